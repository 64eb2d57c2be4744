"""What a loop counts (epochs, steps, batches, or repeats of a whole training), and its counter variable."""

from collections.abc import Iterator
from typing import Literal

import libcst as cst

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.identifier_words import all_words
from deviate.analysis.resolve.index import Function, LoopNode
from deviate.analysis.resolve.tree import constant_text, dotted_name, identifiers, keywords, last_name, positional, walk
from deviate.model.metric_vocabulary import split_identifier, word_set

LoopUnit = Literal["epochs", "steps", "batches", "repeats", "other"]

EPOCHS = word_set("epoch epochs ep epo eps nepoch nepochs")
STEPS = word_set(
    "step steps iter iters iteration iterations it itr ii niter episode episodes eps update updates round rounds "
    "generation generations frame frames t timestep timesteps game games rollout rollouts"
)
REPEATS = word_set(
    "seed seeds fold folds run runs trial trials repeat repeats rep lr wd hp config configs cfg experiment exp "
    "model models network dataset datasets split"
)
"""Variables of loops that repeat a whole training."""

REPEATING = word_set(
    "seed seeds fold folds kf kfold skf cv run runs trial trials repeat repeats reps repetitions restarts configs "
    "experiments"
)
"""Words in the iterable of such loops; `dataset` and `model` are not among them."""

RANGES = word_set("range xrange trange prange arange count cycle repeat")
AROUND = word_set("tqdm enumerate zip list iter reversed track progressbar notebook_tqdm prefetch master_bar")


def counter_of(loop: LoopNode) -> str | None:
    """The counter of a loop: the first target of a `for`; in a `while`, the variable that is incremented and tested."""
    if isinstance(loop, cst.For):
        target: cst.BaseExpression = loop.target
        while isinstance(target, cst.Tuple | cst.List) and target.elements:
            target = target.elements[0].value
        return last_name(target) or None
    tested = {name for node in [loop.test, *_exits(loop)] for name in identifiers(node)}
    raised = [
        dotted_name(node.target)
        for node in walk(loop.body)
        if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.AddAssign) and dotted_name(node.target)
    ]
    raised += [
        dotted_name(node.targets[0].target)
        for node in walk(loop.body)
        if isinstance(node, cst.Assign)
        and isinstance(node.value, cst.BinaryOperation)
        and isinstance(node.value.operator, cst.Add)
        and dotted_name(node.targets[0].target)
        and dotted_name(node.targets[0].target) == dotted_name(node.value.left)
    ]
    ranked = sorted(
        raised, key=lambda name: (not _is_tested(name, tested), not (EPOCHS | STEPS) & set(split_identifier(name)))
    )
    return ranked[0] if ranked else None


def counted_unit(loop: LoopNode, function: Function, graph: CallGraph) -> LoopUnit:
    """The unit that a loop counts, judged by its counter and its iterable."""
    variable = counter_of(loop)
    variable_words = set(split_identifier(variable)) if variable else set()
    if variable_words & EPOCHS and not (variable_words & REPEATS):
        return "epochs"
    if variable_words & REPEATS:
        return "repeats"
    if isinstance(loop, cst.While):
        tested = set(all_words(identifiers(loop.test)))
        return "epochs" if tested & EPOCHS and not variable_words & STEPS else "steps"
    through = list(_iterated_expressions(loop.iter, function, graph))
    is_range = any(isinstance(part, cst.Call) and last_name(part.func) in RANGES for part in through)
    bound_words = {word for part in through for word in _counting_words(part)}
    if bound_words & REPEATING:
        return "repeats"
    if is_range and bound_words & EPOCHS:
        return "epochs"
    if is_range and (variable_words | bound_words) & STEPS:
        return "steps"
    return "other" if is_range or isinstance(loop.iter, cst.Tuple | cst.List) else "batches"


def _iterated_expressions(
    node: cst.BaseExpression, function: Function, graph: CallGraph, depth: int = 6
) -> Iterator[cst.BaseExpression]:
    """The expressions behind an iterable: names are resolved, progress bars and `enumerate` are removed."""
    yield node
    if depth == 0:
        return
    if isinstance(node, cst.Name):
        scope, bindings = graph.resolver.find(node.value, function)
        for binding in bindings:
            if (value := binding.whole("assign")) is not None:
                yield from _iterated_expressions(value, scope, graph, depth - 1)
    elif isinstance(node, cst.Call) and last_name(node.func) in AROUND:
        for value in (*positional(node), *(value for key, value in keywords(node).items() if key == "iterable")):
            yield from _iterated_expressions(value, function, graph, depth - 1)


def _counting_words(node: cst.BaseExpression) -> Iterator[str]:
    """The words in an iterable that say what is counted: names, bounds of a range, the title of a progress bar."""
    if isinstance(node, cst.Name | cst.Attribute):
        yield from split_identifier(dotted_name(node))
    elif isinstance(node, cst.Call):
        name = last_name(node.func)
        if name in RANGES:
            yield from all_words(identifiers(node))
        elif name == "split" and isinstance(node.func, cst.Attribute):
            yield from split_identifier(dotted_name(node.func.value))
        title = constant_text(keywords(node).get("desc"))
        yield from split_identifier(title) if title is not None else ()


def _is_tested(name: str, tested: set[str]) -> bool:
    return name in tested or name.rpartition(".")[2] in tested


def _exits(loop: cst.While) -> list[cst.BaseExpression]:
    """Conditions under which the loop is left."""
    return [
        node.test
        for node in walk(loop.body)
        if isinstance(node, cst.If) and any(isinstance(part, cst.Break | cst.Return) for part in walk(node.body))
    ]
