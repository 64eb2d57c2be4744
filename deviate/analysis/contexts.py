"""Contexts of a site: the call paths and constant labels under which it reports, and words that tell them apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.model import Place

from .calls import CallGraph, Way
from .collect import Judged
from .index import Function
from .labels import label_texts
from .loops import Training, runs_after
from .tree import constant_text, identifiers
from .words import PHASES, words

MOST_CONTEXTS = 12


@dataclass(frozen=True, slots=True)
class Context:
    """One way to a site, and the text of its label there."""

    way: Way
    path: tuple[Place, ...]
    label: str | None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Reach:
    """The ways to a node that count, or why none does."""

    ways: tuple[Way, ...]
    reason: str = ""


def reach(node: cst.CSTNode, trainings: Sequence[Training], graph: CallGraph) -> Reach:
    """The ways to a node that lead through the training or come after it; all of them where nothing trains."""
    ways = graph.ways(node)
    if not ways:
        return Reach((), "not reached: its function is never called from the script")
    if not trainings:
        return Reach(tuple(ways))
    counting = tuple(way for way in ways if any(_counts(way, training, graph) for training in trainings))
    return Reach(counting, "" if counting else "reported before the main loop, or in a branch that never reaches it")


def _counts(way: Way, training: Training, graph: CallGraph) -> bool:
    if not training.is_managed and any(training.node in graph.nodes.loops_around(frame.node) for frame in way):
        return True
    if training.is_managed and any(frame.edge is not None and frame.edge.is_handed for frame in way):
        return True  # the framework calls it, and it drives the training too
    return any(
        runs_after(frame, earlier, graph.nodes)
        for there in graph.ways(training.node)
        for earlier in there
        for frame in way
    )


def contexts(judged: Judged, ways: Sequence[Way], graph: CallGraph) -> list[Context]:
    """The contexts of a site; a single one when nothing tells them apart, or when they are too many to be told."""
    found: list[Context] = []
    label = judged.candidate.label
    told = _told(ways, graph)
    for way, path in zip(ways, told, strict=True):
        texts: list[str] = _labels_on(label, way, graph) if label else []
        for text in texts or (None,):
            if all((other.path, other.label) != (path, text) for other in found):
                found.append(Context(way, path, text))
    if len(found) > MOST_CONTEXTS:
        return [Context(found[0].way, (), None)]
    if len({context.path for context in found}) == 1:
        found = [Context(context.way, (), context.label) for context in found]
    return _hinted(found) if len(found) > 1 else [Context(found[0].way, (), None)]


def _told(ways: Sequence[Way], graph: CallGraph) -> list[tuple[Place, ...]]:
    """The calls that lead to a site on each way.

    Where a function is handed over, somebody else calls it: what comes before is left out, unless only that tells
    two ways apart.
    """
    whole = [tuple(graph.place(frame) for frame in way[:-1]) for way in ways]
    sure = [path[_handed_over(way) :] for way, path in zip(ways, whole, strict=True)]
    return sure if len(set(sure)) == len(set(whole)) else whole


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
        given = edge.argument(name)
        text = constant_text(given[0]) if given is not None else _default(name, function)
        if text is not None:
            return [text]
        if given is None or not isinstance(given[0], cst.Name):
            return []
        name, place = given[0].value, place - 1


def _default(name: str, function: Function) -> str | None:
    return next(
        (constant_text(binding.value) for binding in function.bindings[name] if binding.how == "parameter"), None
    )


def _hinted(found: list[Context]) -> list[Context]:
    """Add to each context the first kind of words by which all of them differ."""
    labels = ["_".join(words(context.label or "")) for context in found]
    if len(set(labels)) == len(found):
        hints = labels
    else:
        sources = (_constants, _arguments, _targets)
        told = [_differing([source(context.way) for context in found]) for source in sources]
        combined = [["_".join(filter(None, pair)) for pair in zip(labels, hints, strict=True)] for hints in told]
        lines = ["_".join(filter(None, (label, _line(context)))) for label, context in zip(labels, found, strict=True)]
        hints = next((hints for hints in combined if len(set(hints)) == len(found)), lines)
    return [Context(c.way, c.path, c.label, hint) for c, hint in zip(found, hints, strict=True)]


def _differing(groups: Sequence[list[str]]) -> list[str]:
    """What is left of each list of words without those that all lists share; phases in their short form."""
    common = set(groups[0]).intersection(*groups[1:])
    kept = [[PHASES.get(word, word) for word in dict.fromkeys(group) if word not in common] for group in groups]
    telling = [[word for word in group if word in PHASES.values()] for group in kept]
    if len({tuple(group[:1]) for group in telling}) == len(groups):
        return ["_".join(group[:1]) for group in telling]
    return ["_".join(group[:3]) for group in kept]


def _constants(way: Way) -> list[str]:
    texts = [constant_text(value) for call in _calls(way) for value in _values(call)]
    return [word for text in texts if text for word in words(text)]


def _arguments(way: Way) -> list[str]:
    names = [name for call in _calls(way) for value in _values(call) for name in identifiers(value)]
    return [word for name in names for word in words(name)]


def _targets(way: Way) -> list[str]:
    functions = [frame.function.name for frame in way[1:-1]]
    return [word for name in functions for word in words(name)]


def _calls(way: Way) -> list[cst.Call]:
    return [frame.node for frame in way[:-1] if isinstance(frame.node, cst.Call)]


def _values(call: cst.Call) -> list[cst.BaseExpression]:
    return [argument.value for argument in call.args]


def _line(context: Context) -> str:
    return "line_" + "_".join(str(place.line) for place in context.path[-1:])
