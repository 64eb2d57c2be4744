"""Contexts of a site: the call paths and constant labels under which it reports, each with distinguishing words."""

import dataclasses
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.loops.main_loop import Training
from deviate.analysis.metrics.collect import Judged
from deviate.analysis.metrics.judge import Objection
from deviate.analysis.metrics.labels import label_texts
from deviate.analysis.resolve.abstract_values import Edge
from deviate.analysis.resolve.calls import MOST_CALL_PATHS, SPAWNS, CallGraph, CallPath, Frame
from deviate.analysis.resolve.conditions import Conditions
from deviate.analysis.resolve.identifier_words import PHASES, all_words
from deviate.analysis.resolve.index import Function, Nodes, is_exit
from deviate.analysis.resolve.tree import constant_number, constant_text, identifiers, last_name
from deviate.model import Place, RejectionReason
from deviate.model.metric_vocabulary import COUNTERS, QUALITY, SHORT_TIMES, split_identifier, word_set

# ---------------------------------------------------------------- order of statements
# What runs after what, and mutually exclusive branches.

REGISTERING = word_set("set_defaults add_command add_typer add_parser register")


def runs_after(frame: Frame, earlier: Frame, nodes: Nodes) -> bool:
    """Whether the node of a frame follows that of another frame of the same function, and may run after it.

    It may not if the two are on mutually exclusive branches, if the branch of the earlier one leaves the function, or
    if both are alternative commands: lambdas and registered functions.
    """
    if frame.function is not earlier.function or (_is_registered(frame) and _is_registered(earlier)):
        return False
    last = earlier.node.body if isinstance(earlier.node, cst.For | cst.While) else earlier.node
    source = frame.function.source
    where, end = source.start(frame.node), source.end(last)
    if (where.line, where.column) < (end.line, end.column):
        return False
    chosen = _lambda_around(frame.node, nodes), _lambda_around(earlier.node, nodes)
    if None not in chosen and chosen[0] is not chosen[1]:
        return False
    branches = dict(_branches(frame.node, nodes))
    return all(
        branches[statement] is branch if statement in branches else not _leaves(branch)
        for statement, branch in _branches(earlier.node, nodes)
    )


def _branches(node: cst.CSTNode, nodes: Nodes) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    """The branches of `if` statements in which a node stands: (statement, branch)."""
    return [(parent, below) for parent, below in nodes.around(node) if type(parent) is cst.If]


def _is_registered(frame: Frame) -> bool:
    """Whether a function is only registered, to be called on request."""
    if frame.edge is None or not frame.edge.is_handed:
        return False
    return not isinstance(frame.node, cst.Call) or last_name(frame.node.func) in REGISTERING


def _lambda_around(node: cst.CSTNode, nodes: Nodes) -> cst.Lambda | None:
    return next((parent for parent in nodes.ancestors(node) if type(parent) is cst.Lambda), None)


def _leaves(branch: cst.CSTNode) -> bool:
    """Whether a branch ends by leaving the function, or the program."""
    body = branch.body if isinstance(branch, cst.Else) else branch
    return isinstance(body, cst.BaseSuite) and any(is_exit(statement) for statement in body.body)


# ---------------------------------------------------------------- contexts

CONSTRUCTORS = ("__init__", "__post_init__", "__new__", "__init_subclass__")
SETTING_UP = word_set(
    "setup prepare_data configure_model configure_optimizers configure_callbacks configure_sharded_model "
    "train_dataloader val_dataloader test_dataloader predict_dataloader"
)
"""Hooks in which Lightning lets a program make its parts."""
RUNNING = word_set("train evaluate eval evaluation test validate validation benchmark")
RUNNERS = word_set("trainer tester evaluator validator runner experiment learner solver benchmark")
"""What runs and measures, even where it does so as soon as it is made."""
MOST_CONTEXTS = 12


@dataclass(frozen=True, slots=True)
class Context:
    """One call path to a site, and the text of its label there.

    Attributes:
        hint: words that distinguish it from the other contexts of the site; empty if none are needed. is_final: whether
            it reports only after the training.
    """

    call_path: CallPath
    path: tuple[Place, ...]
    label: str | None
    hint: str = ""
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Reach:
    """The call paths to a node that count, or the reason why none does."""

    call_paths: tuple[CallPath, ...]
    objection: Objection | None = None


def reach(node: cst.CSTNode, trainings: Sequence[Training], conditions: Conditions) -> Reach:
    """The call paths to a node that lead through the training or come after it; all of them where nothing trains."""
    graph = conditions.graph
    call_paths = graph.call_paths(node)
    if not call_paths:
        return Reach((), Objection(RejectionReason.NEVER_CALLED))
    alive = tuple(
        call_path for call_path in call_paths if not any(graph.nodes.is_dead(frame.node) for frame in call_path)
    )
    if not alive:
        return Reach((), Objection(RejectionReason.BEHIND_EXIT))
    if _is_of_script(node, graph):
        return Reach((), Objection(RejectionReason.NEVER_CALLED))
    training_paths = [path for training in trainings for path in graph.call_paths(training.node)]
    taken = tuple(
        call_path
        for call_path in alive
        if not (conditions.is_turned_off(call_path) or conditions.takes_other_option(call_path, training_paths))
    )
    if not taken and (len(call_paths) < MOST_CALL_PATHS or not conditions.finds_way(node)):
        return Reach((), Objection(RejectionReason.TURNED_OFF))
    alive = taken or alive
    if not trainings:
        return Reach(alive)
    counting = tuple(
        call_path
        for call_path in alive
        if is_inside(call_path, trainings, graph) or _is_after(call_path, trainings, graph)
    )
    if not counting:
        return Reach((), Objection(RejectionReason.EARLY))
    trained = {frame.function for path in training_paths for frame in path}
    telling = tuple(path for path in counting if not _is_set_up(path, trained))
    return Reach(telling, None if telling else Objection(RejectionReason.SET_UP))


def _is_of_script(node: cst.CSTNode, graph: CallGraph) -> bool:
    """Whether a node runs only where its file is a script of its own, which it is not here."""
    function = graph.nodes.function_of(node)
    if not function.is_module or function.module is graph.project.entry:
        return False
    return not set(function.module.guards).isdisjoint(graph.nodes.ancestors(node))


def _is_set_up(call_path: CallPath, trained: Collection[Function]) -> bool:
    """Whether a call path leads into the construction of an object, or a hook for it, and not on to an evaluation.

    Args:
        trained: the functions through which the training is called: the program may run in a constructor.
    """
    for place, frame in enumerate(call_path):
        is_hook = place > 0 and _is_handed(call_path[place - 1]) and frame.function.name in SETTING_UP
        if frame.function in trained or not (frame.function.name in CONSTRUCTORS or is_hook):
            continue
        names = [one.function.name for one in call_path[place + 1 :]]
        owners = [split_identifier(one.function.owner.name)[-1:] for one in call_path[place:] if one.function.owner]
        return (
            not RUNNING.intersection(all_words(names))
            and {"fit", "run", "learn"}.isdisjoint(names)
            and RUNNERS.isdisjoint(word for words in owners for word in words)
        )
    return False


def is_inside(call_path: CallPath, trainings: Sequence[Training], graph: CallGraph) -> bool:
    """Whether a call path leads through a training."""
    for training in trainings:
        if not training.is_managed and any(
            training.node in graph.nodes.loops_around(frame.node) for frame in call_path
        ):
            return True
        if training.is_managed and any(frame.edge is not None and frame.edge.is_handed for frame in call_path):
            return True  # the framework calls it, and it drives the training too
        if _is_started(call_path) and all(_is_started(other_path) for other_path in graph.call_paths(training.node)):
            return True  # in a process or thread beside that of the training
    return False


def _is_handed(frame: Frame) -> bool:
    return frame.edge is not None and frame.edge.is_handed


def _is_started(call_path: CallPath) -> bool:
    """Whether a call path leads through the start of a process or thread."""
    return any(
        isinstance(frame.node, cst.Call) and frame.edge is not None and frame.edge.is_handed
        for frame in call_path
        if isinstance(frame.node, cst.Call) and last_name(frame.node.func) in SPAWNS
    )


def _is_after(call_path: CallPath, trainings: Sequence[Training], graph: CallGraph) -> bool:
    return any(
        runs_after(frame, earlier, graph.nodes)
        for training in trainings
        for training_path in graph.call_paths(training.node)
        for earlier in training_path
        for frame in call_path
    )


def contexts(
    judged: Judged,
    call_paths: Sequence[CallPath],
    trainings: Sequence[Training],
    graph: CallGraph,
    *,
    is_shared: bool = False,
) -> list[Context]:
    """The contexts of a site; a single one if no words distinguish them, or if there are too many.

    If other scripts also reach the site, each context keeps its label and its call path.
    """
    found_contexts: list[Context] = []
    label = judged.candidate.label
    paths = _telling_paths(call_paths, trainings, graph)
    for call_path, path in zip(call_paths, paths, strict=True):
        is_final = bool(trainings) and not is_inside(call_path, trainings, graph)
        texts: list[str] = _labels_on(label, call_path, graph) if label else []
        for text in texts or (None,):
            if all((other.path, other.label) != (path, text) for other in found_contexts):
                found_contexts.append(Context(call_path, path, text, is_final=is_final))
    if len(found_contexts) > MOST_CONTEXTS:
        return [_whole(found_contexts, label=None)]
    if len({context.path for context in found_contexts}) == 1 and not is_shared:
        found_contexts = [dataclasses.replace(context, path=()) for context in found_contexts]
    by_label: dict[str | None, list[Context]] = {}
    for context in found_contexts:
        by_label.setdefault(context.label, []).append(context)
    distinct = [context for group in by_label.values() for context in _add_hints(group, graph)]
    if len(by_label) == 1 and not (is_shared and found_contexts[0].label):
        end = _common_end([context.path for context in found_contexts]) if is_shared else ()
        return distinct if len(distinct) > 1 else [dataclasses.replace(_whole(found_contexts, label=None), path=end)]
    return [_add_label_words(context) for context in distinct]


def _whole(contexts: Sequence[Context], label: str | None) -> Context:
    """The single context that takes all values."""
    return Context(contexts[0].call_path, (), label, is_final=all(context.is_final for context in contexts))


def _add_label_words(context: Context) -> Context:
    """The context with the words of its label added to its hint."""
    label_words = [PHASES.get(word, word) for word in split_identifier(context.label or "")]
    return dataclasses.replace(context, hint="_".join([*label_words, *filter(None, [context.hint])]))


def _add_hints(contexts: list[Context], graph: CallGraph) -> list[Context]:
    """The contexts with hints; those that no words distinguish are joined in one.

    Separate metrics for them would need line numbers in their names, which mean nothing in a report and change with the
    file.
    """
    if len(contexts) == 1:
        return contexts
    hints = hints_of([context.call_path for context in contexts], [context.is_final for context in contexts], graph)
    groups: dict[str, list[Context]] = {}
    for context, hint in zip(contexts, hints, strict=True):
        groups.setdefault(hint, []).append(context)
    return [
        Context(
            group[0].call_path,
            _common_end([context.path for context in group]) if len(groups) > 1 else (),
            group[0].label,
            hint if len(groups) > 1 else "",
            all(context.is_final for context in group),
        )
        for hint, group in groups.items()
    ]


def _common_end(paths: Sequence[tuple[Place, ...]]) -> tuple[Place, ...]:
    """The calls with which all paths end: a value belongs to the metric with the longest path that fits."""
    common = paths[0]
    for path in paths[1:]:
        length = 0
        while length < min(len(common), len(path)) and common[-1 - length] == path[-1 - length]:
            length += 1
        common = common[len(common) - length :]
    return common


def _telling_paths(
    call_paths: Sequence[CallPath], trainings: Sequence[Training], graph: CallGraph
) -> list[tuple[Place, ...]]:
    """The distinguishing calls of each call path to a site.

    Calls up to the function with the main loop are left out: `mp.spawn(worker)` and `worker()` run the same training.
    So are calls up to a callback, unless only they distinguish two call paths.
    """
    starts = [_training_in(call_path, trainings, graph) for call_path in call_paths]
    whole = [
        tuple(graph.place(frame) for frame in call_path[start:-1])
        for call_path, start in zip(call_paths, starts, strict=True)
    ]
    handed = [max(0, _n_handed_over(call_path) - start) for call_path, start in zip(call_paths, starts, strict=True)]
    sure = [path[place:] for path, place in zip(whole, handed, strict=True)]
    return sure if len(set(sure)) == len(set(whole)) else whole


def _training_in(call_path: CallPath, trainings: Sequence[Training], graph: CallGraph) -> int:
    """The index of the call-path frame in which the main loop runs; 0 if there is none."""
    loops = {training.node for training in trainings if not training.is_managed}
    inside = (
        place for place, frame in enumerate(call_path) if not loops.isdisjoint(graph.nodes.loops_around(frame.node))
    )
    return next(inside, 0)


def _n_handed_over(call_path: CallPath) -> int:
    """The number of calls up to and including the last callback of a call path; 0 if there is none."""
    unsure = [
        place for place, frame in enumerate(call_path, start=1) if frame.edge is not None and frame.edge.is_handed
    ]
    return max(unsure, default=0)


def _labels_on(name: str, call_path: CallPath, graph: CallGraph) -> list[str]:
    """Strings that the label variable can hold on one call path: the constant passed down, or those of the loop."""
    place = len(call_path) - 1
    while True:
        function = call_path[place].function
        edge = call_path[place - 1].edge if place else None
        if name not in function.parameters or edge is None:
            return label_texts(name, function, graph)
        if edge.is_handed:
            return []
        argument = edge.argument(name)
        text = constant_text(argument[0]) if argument is not None else _default(name, function)
        if text is not None:
            return [text]
        if argument is None or not isinstance(argument[0], cst.Name):
            return []
        name, place = argument[0].value, place - 1


def _default(name: str, function: Function) -> str | None:
    return next(
        (constant_text(binding.value) for binding in function.bindings[name] if binding.how == "parameter"), None
    )


MOST_WORDS = 2
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
SILENT = word_set(
    "self cls model models net network args arg opt opts options cfg config conf params hparams flags device cuda cpu "
    "gpu data loader loaders dataloader dataset datasets ds dl iterator iter batch x y input inputs target targets "
    "output outputs criterion optimizer scheduler logger log writer writers print verbose true false none str int "
    "float len range run main call get set fn func function result results ret out res tmp the a an of to is in not "
    "path dir file name names list dict np torch state step epoch do use with"
)
"""Words that say nothing about which of several calls of the same function it is."""

HELD = re.compile(r"([a-z]+?)_?(?:set|loader|data|dataset|dataloader|iter|dl|ds)s?")

Told = Callable[[CallPath], Iterator[str]]


def hints_of(call_paths: Sequence[CallPath], is_final: Sequence[bool], graph: CallGraph) -> list[str]:
    """A hint for each call path to a site; equal ones where no reader could tell them apart.

    Phases of training come first, wherever the calls name them: train, val, test. Then whether the call path is taken
    after the training ("final"), then other words of the calls, then their order if what they are given differs.
    """
    parts = [_differing_part(call_paths, place) for place in range(len(call_paths))]
    hints = _refine(_phases(parts, graph), lambda places: _finals([is_final[place] for place in places]))
    hints = _refine(hints, lambda places: _other_words([parts[place] for place in places], graph))
    return _refine(hints, lambda places: _ordinals([parts[place] for place in places], graph))


def _refine(hints: Sequence[str], more: Callable[[list[int]], list[str]]) -> list[str]:
    """The same, with further words where hints are equal and the words differ."""
    result = list(hints)
    for hint in dict.fromkeys(hints):
        places = [place for place, other in enumerate(hints) if other == hint]
        for place, word in zip(places, more(places), strict=True) if len(places) > 1 else ():
            result[place] = _join(*(word, hint) if word == "final" else (hint, word))
    return result


def _finals(is_final: Sequence[bool]) -> list[str]:
    return ["final" if final and not all(is_final) else "" for final in is_final]


def _join(*parts: str) -> str:
    return "_".join(part for part in parts if part)


def _differing_part(call_paths: Sequence[CallPath], place: int) -> CallPath:
    """A call path without the calls with which all begin, and without its end at the site."""
    shared = 0
    shortest = min(len(call_path) for call_path in call_paths) - 1
    while shared < shortest and len({id(call_path[shared].node) for call_path in call_paths}) == 1:
        shared += 1
    return call_paths[place][shared:-1]


# ---------------------------------------------------------------- words of the calls


def _phases(parts: Sequence[CallPath], graph: CallGraph) -> list[str]:
    """The phase of each call path, by the first kind of words that names one; empty where none differ."""
    sources = _sources(graph)
    phases = [[list(filter(None, map(_phase, source(part)))) for source in sources] for part in parts]
    hints = []
    for kinds in phases:
        first = next((kind for number, kind in enumerate(kinds) if set(kind) - _shared_phases(phases, number)), [])
        number = kinds.index(first) if first else 0
        hints.append(next((phase for phase in first if phase not in _shared_phases(phases, number)), ""))
    return hints if len(set(hints)) > 1 else [""] * len(parts)


def _phase(word: str) -> str | None:
    """The phase that a word names, also as the beginning of `trainloader` and the like."""
    match = HELD.fullmatch(word)
    return PHASES.get(match[1] if match else word)


def _shared_phases(phases: Sequence[Sequence[list[str]]], number: int) -> set[str]:
    """The phases that one kind of words names on every call path."""
    return set(phases[0][number]).intersection(*(kinds[number] for kinds in phases[1:]))


def _other_words(parts: Sequence[CallPath], graph: CallGraph) -> list[str]:
    """Telling words by which all call paths differ, of the first kind that has them; at most one may have none."""
    for source in _sources(graph):
        groups = [list(dict.fromkeys(word for word in source(part) if _is_telling(word))) for part in parts]
        common = set(groups[0]).intersection(*groups[1:])
        hints = ["_".join([word for word in group if word not in common][:MOST_WORDS]) for group in groups]
        if len(set(hints)) == len(hints):
            return hints
    return [""] * len(parts)


def _is_telling(word: str) -> bool:
    plain = word.rstrip("0123456789")
    return len(plain) > 1 and word not in SILENT and word not in COUNTERS | QUALITY | SHORT_TIMES


def _ordinals(parts: Sequence[CallPath], graph: CallGraph) -> list[str]:
    """The order of the calls in the source; none where they are given the same, for then they report the same."""
    calls = [tuple(_argument_words(frame.edge, graph) for frame in part if frame.edge is not None) for part in parts]
    if len(set(calls)) < len(calls) or len(parts) > len(ORDINALS):
        return [""] * len(parts)
    return list(ORDINALS[: len(parts)])


def _argument_words(edge: Edge, graph: CallGraph) -> tuple[str, ...]:
    """What a call hands over, but for counters and switches."""
    spelled = [graph.nodes.code(value) for _, value in _arguments(edge)]
    return tuple(
        text for text in spelled if text not in ("True", "False", "None") and not COUNTERS & set(split_identifier(text))
    )


def _sources(graph: CallGraph) -> tuple[Told, ...]:
    """Kinds of words on a call path, the most telling kind first."""

    def targets(call_path: CallPath) -> Iterator[str]:
        return iter(all_words(name for frame in call_path for name in _assigned_names(frame, graph)))

    def branches(call_path: CallPath) -> Iterator[str]:
        return (word for frame in call_path for word in _conditions(frame.node, graph))

    return _constants, _names, targets, _functions, branches


def _constants(call_path: CallPath) -> Iterator[str]:
    for edge in _edges(call_path):
        for key, value in _arguments(edge):
            text, number = constant_text(value), constant_number(value)
            if text is not None:
                yield from split_identifier(text)
            elif number is not None and key:
                yield f"{'_'.join(split_identifier(key))}_{number:g}".replace(".", "_").replace("-", "minus_")


def _names(call_path: CallPath) -> Iterator[str]:
    for edge in _edges(call_path):
        for key, value in _arguments(edge):
            if isinstance(value, cst.Name) and value.value == "True":
                yield from split_identifier(key)
            elif not isinstance(value, cst.BaseString):
                yield from all_words(identifiers(value))


def _functions(call_path: CallPath) -> Iterator[str]:
    for frame in call_path:
        yield from () if frame.function.is_module else split_identifier(frame.function.name)
        yield from split_identifier(frame.edge.callee.name) if frame.edge is not None else ()


def _edges(call_path: CallPath) -> Iterator[Edge]:
    return (frame.edge for frame in call_path if frame.edge is not None)


def _arguments(edge: Edge) -> Iterator[tuple[str, cst.BaseExpression]]:
    """What a call hands over: (name of the parameter, or empty; expression)."""
    if edge.is_handed and isinstance(edge.node, cst.Call):
        for argument in edge.node.args:  # what is given beside the function tells what it is for
            yield argument.keyword.value if argument.keyword else "", argument.value
    names = edge.callee.parameters[edge.skipped :]
    for place, (value, _) in enumerate(edge.arguments):
        if isinstance(value, cst.BaseExpression):
            yield names[place] if place < len(names) else "", value
    for name, (value, _) in edge.by_name:
        if isinstance(value, cst.BaseExpression):
            yield name, value


def _assigned_names(frame: Frame, graph: CallGraph) -> Iterator[str]:
    """Names that take what a call returns: `test_loss, test_acc = evaluate(…)`."""
    for parent in graph.nodes.ancestors(frame.node):
        if isinstance(parent, cst.Assign):
            for target in parent.targets:
                yield from identifiers(target.target)
        elif isinstance(parent, cst.AnnAssign):
            yield from identifiers(parent.target)
        if isinstance(parent, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            return


def _conditions(node: cst.CSTNode, graph: CallGraph) -> Iterator[str]:
    """Words of the conditions under which a node runs, within its function."""
    for parent, below in graph.nodes.around(node):
        if isinstance(parent, cst.If) and below is parent.body:
            yield from all_words(identifiers(parent.test))
