"""Contexts of a site: the call paths and constant labels under which it reports, each with distinguishing words."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.loops.main_loop import Training
from deviate.analysis.metrics.collect import Judged
from deviate.analysis.metrics.evidence import Objection
from deviate.analysis.metrics.hints import hints_of
from deviate.analysis.metrics.labels import label_texts
from deviate.analysis.resolve.calls import CallGraph, CallPath
from deviate.analysis.resolve.edges import SPAWNS
from deviate.analysis.resolve.identifier_words import PHASES, split_identifier
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.order import is_dead, runs_after
from deviate.analysis.resolve.tree import constant_text, last_name
from deviate.model import Place, RejectionReason

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


def reach(node: cst.CSTNode, trainings: Sequence[Training], graph: CallGraph) -> Reach:
    """The call paths to a node that lead through the training or come after it; all of them where nothing trains."""
    call_paths = graph.call_paths(node)
    if not call_paths:
        return Reach((), Objection(RejectionReason.NEVER_CALLED))
    alive = tuple(
        call_path for call_path in call_paths if not any(is_dead(frame.node, graph.nodes) for frame in call_path)
    )
    if not alive:
        return Reach((), Objection(RejectionReason.BEHIND_EXIT))
    if not trainings:
        return Reach(alive)
    counting = tuple(
        call_path
        for call_path in alive
        if is_inside(call_path, trainings, graph) or _is_after(call_path, trainings, graph)
    )
    return Reach(counting, None if counting else Objection(RejectionReason.EARLY))


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
