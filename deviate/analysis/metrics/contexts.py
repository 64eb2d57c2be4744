"""Contexts of a site: the call paths and constant labels under which it reports, each with words that tell it apart."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.loops.main_loop import Training
from deviate.analysis.metrics.collect import Judged
from deviate.analysis.metrics.evidence import Objection
from deviate.analysis.metrics.hints import hints_of
from deviate.analysis.metrics.labels import label_texts
from deviate.analysis.resolve.calls import CallGraph, Way
from deviate.analysis.resolve.edges import SPAWNS
from deviate.analysis.resolve.identifier_words import PHASES, words
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.order import is_dead, runs_after
from deviate.analysis.resolve.tree import constant_text, last_name
from deviate.model import Place, RejectionReason

MOST_CONTEXTS = 12


@dataclass(frozen=True, slots=True)
class Context:
    """One way to a site, and the text of its label there.

    Attributes:
        hint: words that tell it from the other contexts of the site; empty where none are needed.
        is_final: whether it reports after the training, and never in it.
    """

    way: Way
    path: tuple[Place, ...]
    label: str | None
    hint: str = ""
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Reach:
    """The ways to a node that count, or why none does."""

    ways: tuple[Way, ...]
    objection: Objection | None = None


def reach(node: cst.CSTNode, trainings: Sequence[Training], graph: CallGraph) -> Reach:
    """The ways to a node that lead through the training or come after it; all of them where nothing trains."""
    ways = graph.ways(node)
    if not ways:
        return Reach((), Objection(RejectionReason.NEVER_CALLED))
    alive = tuple(way for way in ways if not any(is_dead(frame.node, graph.nodes) for frame in way))
    if not alive:
        return Reach((), Objection(RejectionReason.BEHIND_EXIT))
    if not trainings:
        return Reach(alive)
    counting = tuple(way for way in alive if is_inside(way, trainings, graph) or _is_after(way, trainings, graph))
    return Reach(counting, None if counting else Objection(RejectionReason.EARLY))


def is_inside(way: Way, trainings: Sequence[Training], graph: CallGraph) -> bool:
    """Whether a way leads through a training."""
    for training in trainings:
        if not training.is_managed and any(training.node in graph.nodes.loops_around(frame.node) for frame in way):
            return True
        if training.is_managed and any(frame.edge is not None and frame.edge.is_handed for frame in way):
            return True  # the framework calls it, and it drives the training too
        if _is_started(way) and all(_is_started(other_way) for other_way in graph.ways(training.node)):
            return True  # a process or thread of its own, beside that of the training
    return False


def _is_started(way: Way) -> bool:
    """Whether a way leads through the start of a process or thread."""
    return any(
        isinstance(frame.node, cst.Call) and frame.edge is not None and frame.edge.is_handed
        for frame in way
        if isinstance(frame.node, cst.Call) and last_name(frame.node.func) in SPAWNS
    )


def _is_after(way: Way, trainings: Sequence[Training], graph: CallGraph) -> bool:
    return any(
        runs_after(frame, earlier, graph.nodes)
        for training in trainings
        for training_way in graph.ways(training.node)
        for earlier in training_way
        for frame in way
    )


def contexts(
    judged: Judged, ways: Sequence[Way], trainings: Sequence[Training], graph: CallGraph, *, is_shared: bool = False
) -> list[Context]:
    """The contexts of a site; a single one when no reader could tell them apart, or when they are too many.

    Of a site that other scripts come to as well, each context keeps its label and the way there.
    """
    found_contexts: list[Context] = []
    label = judged.candidate.label
    paths = _telling_paths(ways, trainings, graph)
    for way, path in zip(ways, paths, strict=True):
        is_final = bool(trainings) and not is_inside(way, trainings, graph)
        texts: list[str] = _labels_on(label, way, graph) if label else []
        for text in texts or (None,):
            if all((other.path, other.label) != (path, text) for other in found_contexts):
                found_contexts.append(Context(way, path, text, is_final=is_final))
    if len(found_contexts) > MOST_CONTEXTS:
        return [_whole(found_contexts, label=None)]
    if len({context.path for context in found_contexts}) == 1 and not is_shared:
        found_contexts = [dataclasses.replace(context, path=()) for context in found_contexts]
    by_label: dict[str | None, list[Context]] = {}
    for context in found_contexts:
        by_label.setdefault(context.label, []).append(context)
    distinct = [context for group in by_label.values() for context in _hinted(group, graph)]
    if len(by_label) == 1 and not (is_shared and found_contexts[0].label):
        end = _common_end([context.path for context in found_contexts]) if is_shared else ()
        return distinct if len(distinct) > 1 else [dataclasses.replace(_whole(found_contexts, label=None), path=end)]
    return [_labelled(context) for context in distinct]


def _whole(contexts: Sequence[Context], label: str | None) -> Context:
    """The one context that takes the values of all."""
    return Context(contexts[0].way, (), label, is_final=all(context.is_final for context in contexts))


def _labelled(context: Context) -> Context:
    """The same with the words of its label in its hint."""
    label_words = [PHASES.get(word, word) for word in words(context.label or "")]
    return dataclasses.replace(context, hint="_".join([*label_words, *filter(None, [context.hint])]))


def _hinted(contexts: list[Context], graph: CallGraph) -> list[Context]:
    """The contexts that a reader can tell apart, those that none can joined in one.

    What is joined reports the same thing called in the same manner; two metrics of it would need names made of line
    numbers, which mean nothing in a report and change with the file.
    """
    if len(contexts) == 1:
        return contexts
    hints = hints_of([context.way for context in contexts], [context.is_final for context in contexts], graph)
    groups: dict[str, list[Context]] = {}
    for context, hint in zip(contexts, hints, strict=True):
        groups.setdefault(hint, []).append(context)
    return [
        Context(
            group[0].way,
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


def _telling_paths(ways: Sequence[Way], trainings: Sequence[Training], graph: CallGraph) -> list[tuple[Place, ...]]:
    """The calls that lead to a site on each way.

    How the script came to the function with the main loop is left out: `mp.spawn(worker)` and `worker()` run the same
    training. Where a function is handed over, somebody else calls it: what comes before is left out, unless only that
    tells two ways apart.
    """
    starts = [_training_in(way, trainings, graph) for way in ways]
    whole = [tuple(graph.place(frame) for frame in way[start:-1]) for way, start in zip(ways, starts, strict=True)]
    handed = [max(0, _handed_over(way) - start) for way, start in zip(ways, starts, strict=True)]
    sure = [path[place:] for path, place in zip(whole, handed, strict=True)]
    return sure if len(set(sure)) == len(set(whole)) else whole


def _training_in(way: Way, trainings: Sequence[Training], graph: CallGraph) -> int:
    """Which frame of a way the main loop runs in; 0 where it runs in none."""
    loops = {training.node for training in trainings if not training.is_managed}
    inside = (place for place, frame in enumerate(way) if not loops.isdisjoint(graph.nodes.loops_around(frame.node)))
    return next(inside, 0)


def _handed_over(way: Way) -> int:
    """How many calls of a way end with the last one after which somebody else calls; 0 where none does."""
    unsure = [place for place, frame in enumerate(way, start=1) if frame.edge is not None and frame.edge.is_handed]
    return max(unsure, default=0)


def _labels_on(name: str, way: Way, graph: CallGraph) -> list[str]:
    """Texts that the label variable holds on one way: the constant handed down, or those of the loop."""
    place = len(way) - 1
    while True:
        function = way[place].function
        edge = way[place - 1].edge if place else None
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
