"""The metric by which a script keeps its best checkpoint: where scores of a run are read off, if it does.

Kept are the weights of the step at which a value beats the best one so far, or at which a callback of a framework says
so.
"""

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from deviate.analysis.hazards.survey import Survey, is_true
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import constant_text, dotted_name, identifiers, keywords, last_name, walk
from deviate.model import Metric
from deviate.model.metric_vocabulary import snake, split_identifier, word_set

BEST = word_set("best lowest highest min max minimum maximum")
KEEPING = word_set("save saves checkpoint checkpoints ckpt deepcopy dump")
COMPARED = re.compile(r"(best|low|high|min|max).*[<>]|[<>].*(best|low|high|min|max)", re.IGNORECASE)
ITEM = re.compile(r"\[(?P<quote>[\"'])(?P<key>.*)(?P=quote)\]$")
COMPARES = (cst.GreaterThan, cst.LessThan, cst.GreaterThanEqual, cst.LessThanEqual)
CHECKPOINTS, STOPS = word_set("ModelCheckpoint"), word_set("EarlyStopping")
ARGUMENTS = word_set("TrainingArguments Seq2SeqTrainingArguments SFTConfig")


def best_checkpoint_metric(survey: Survey, metrics: Sequence[Metric]) -> str | None:
    """Name of the metric; None where the script keeps no best checkpoint, or keeps it by what it does not report."""
    named = [(spelled, metrics) for spelled in _named_in_callbacks(survey)]
    compared = [(spelled, _reported_in(function, metrics)) for spelled, function in _compared(survey)]
    return next(filter(None, (_metric_of(spelled, among) for spelled, among in (*named, *compared))), None)


def _reported_in(function: Function, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics that a function reports itself: the same word may mean another value in another one."""
    source = function.source
    first, last = source.line(function.node), source.end(function.node).line
    return [metric for metric in metrics if metric.file == source.file and first <= metric.line <= last]


def _metric_of(spelled: str, metrics: Sequence[Metric]) -> str | None:
    """The metric that is reported as this expression, or is called so."""
    words = split_identifier(spelled.rpartition(".")[2])
    taken = ITEM.search(spelled)
    for is_same in (
        lambda metric: metric.expression == spelled,
        lambda metric: metric.is_item and taken is not None and metric.label == taken["key"],
        lambda metric: metric.is_item and metric.label == spelled,
        lambda metric: metric.name == snake(spelled),
        lambda metric: split_identifier(metric.name) == words,
        lambda metric: split_identifier(metric.name) == ["eval", *words],
        lambda metric: spelled in metric.expression.replace(".item()", "").split(" ")[:1],
    ):
        name = next((metric.name for metric in metrics if is_same(metric)), None)
        if name is not None:
            return name
    return None


def _named_in_callbacks(survey: Survey) -> Iterator[str]:
    """Names of metrics that callbacks and arguments of frameworks watch to keep the best weights."""
    for full_name in sorted(survey.names):
        last = full_name.rpartition(".")[2]
        for call in survey.calls([full_name]) if last in CHECKPOINTS | STOPS | ARGUMENTS else ():
            arguments = keywords(call.node)
            is_keras = "keras" in full_name
            if last in CHECKPOINTS:
                keeps = not is_keras or is_true(arguments.get("save_best_only"))
            elif last in STOPS:
                keeps = is_keras and is_true(arguments.get("restore_best_weights"))
            else:
                keeps = is_true(arguments.get("load_best_model_at_end"))
            place = {"EarlyStopping": 0, "ModelCheckpoint": 1 if is_keras else 2}.get(last)
            name = call.argument(place, "metric_for_best_model" if last in ARGUMENTS else "monitor")
            if keeps and name is not None:
                yield from sorted(survey.texts(name, call.function))
            elif keeps and is_keras:
                yield "val_loss"  # what Keras watches by default


def _compared(survey: Survey) -> Iterator[tuple[str, Function]]:
    """Expressions that are compared with the best value so far, in functions that keep something then."""
    for function in survey.functions:
        if _remembers_best(function) and any(map(_keeps, function.calls)) and _has_such_a_line(function):
            for node in walk(function.node):
                if type(node) is cst.Comparison and len(node.comparisons) == 1:
                    (target,) = node.comparisons
                    if isinstance(target.operator, COMPARES):
                        for one, other in ((node.left, target.comparator), (target.comparator, node.left)):
                            if _is_best(one) and not _is_best(other) and constant_text(other) is None:
                                yield function.source.code(_without_item(other)), function


def _has_such_a_line(function: Function) -> bool:
    """Whether a line compares with something that is called best: walking through a function is dear."""
    source = function.source
    lines = source.lines[source.line(function.node) - 1 : source.end(function.node).line]
    return any(COMPARED.search(line) for line in lines)


def _remembers_best(function: Function) -> bool:
    names = [*function.bindings, *(target.attr.value for target, _ in function.assigned)]
    return any(BEST & set(split_identifier(name)) for name in names)


def _keeps(call: cst.Call) -> bool:
    return bool(KEEPING & set(split_identifier(last_name(call.func) or "")))


def _is_best(node: cst.BaseExpression) -> bool:
    return any(BEST & set(split_identifier(name)) for name in (dotted_name(node), *identifiers(node)) if name)


def _without_item(node: cst.BaseExpression) -> cst.BaseExpression:
    """`loss` of `loss.item()`."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "item":
        return node.func.value
    return node
