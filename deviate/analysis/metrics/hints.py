"""Hints: words that distinguish the call paths to one site for a reader: phases first, then other words."""

import re
from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from deviate.analysis.resolve.abstract_values import Edge
from deviate.analysis.resolve.calls import CallGraph, CallPath, Frame
from deviate.analysis.resolve.identifier_words import COUNTERS, PHASES, QUALITY, SHORT_TIMES, split_identifier
from deviate.analysis.resolve.tree import constant_number, constant_text, identifiers
from deviate.model.metric_vocabulary import word_set

MOST_WORDS = 2
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
SILENT = word_set(
    "self cls model models net network args arg opt opts options cfg config conf params hparams flags device cuda cpu "
    "gpu data loader loaders dataloader dataset datasets ds dl iterator iter batch x y input inputs target targets "
    "output outputs criterion optimizer scheduler logger log writer writers print verbose true false none str int "
    "float len range run main call get set fn func function result results ret out res tmp the a an of to is in not "
    "path dir file name names list dict np torch state step epoch do use with"
)
"""Words that do not distinguish calls of the same function."""

HELD = re.compile(r"([a-z]+?)_?(?:set|loader|data|dataset|dataloader|iter|dl|ds)s?")

Told = Callable[[CallPath], Iterator[str]]


def hints_of(call_paths: Sequence[CallPath], is_final: Sequence[bool], graph: CallGraph) -> list[str]:
    """A hint for each call path to a site; equal hints if no words distinguish the paths.

    Phases of training come first, wherever the calls name them: train, val, test. Then whether the call path is taken
    after the training ("final"), then other words of the calls, then their order if their arguments differ.
    """
    parts = [_differing_part(call_paths, place) for place in range(len(call_paths))]
    hints = _refine(_phases(parts, graph), lambda places: _finals([is_final[place] for place in places]))
    hints = _refine(hints, lambda places: _other_words([parts[place] for place in places], graph))
    return _refine(hints, lambda places: _ordinals([parts[place] for place in places], graph))


def _refine(hints: Sequence[str], more: Callable[[list[int]], list[str]]) -> list[str]:
    """Equal hints with further words appended where these differ."""
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
    """A call path without the calls that all paths share at the start, and without its end at the site."""
    shared = 0
    shortest = min(len(call_path) for call_path in call_paths) - 1
    while shared < shortest and len({id(call_path[shared].node) for call_path in call_paths}) == 1:
        shared += 1
    return call_paths[place][shared:-1]


# ---------------------------------------------------------------- words of the calls


def _phases(parts: Sequence[CallPath], graph: CallGraph) -> list[str]:
    """The phase of each call path, from the first kind of words that names one; empty where all are equal."""
    sources = _sources(graph)
    phases = [[list(filter(None, map(_phase, source(part)))) for source in sources] for part in parts]
    hints = []
    for kinds in phases:
        first = next((kind for number, kind in enumerate(kinds) if set(kind) - _shared_phases(phases, number)), [])
        number = kinds.index(first) if first else 0
        hints.append(next((phase for phase in first if phase not in _shared_phases(phases, number)), ""))
    return hints if len(set(hints)) > 1 else [""] * len(parts)


def _phase(word: str) -> str | None:
    """The phase that a word names, also as a prefix, as in `trainloader`."""
    match = HELD.fullmatch(word)
    return PHASES.get(match[1] if match else word)


def _shared_phases(phases: Sequence[Sequence[list[str]]], number: int) -> set[str]:
    """The phases that one kind of words names on every call path."""
    return set(phases[0][number]).intersection(*(kinds[number] for kinds in phases[1:]))


def _other_words(parts: Sequence[CallPath], graph: CallGraph) -> list[str]:
    """Words by which all call paths differ, from the first kind that has them; at most one may have none."""
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
    """The order of the calls in the source; none if their arguments are equal, as they then report the same."""
    calls = [tuple(_argument_words(frame.edge, graph) for frame in part if frame.edge is not None) for part in parts]
    if len(set(calls)) < len(calls) or len(parts) > len(ORDINALS):
        return [""] * len(parts)
    return list(ORDINALS[: len(parts)])


def _argument_words(edge: Edge, graph: CallGraph) -> tuple[str, ...]:
    """Words of the arguments of a call, except counters and switches."""
    spelled = [graph.nodes.code(value) for _, value in _arguments(edge)]
    return tuple(
        text for text in spelled if text not in ("True", "False", "None") and not COUNTERS & set(split_identifier(text))
    )


def _sources(graph: CallGraph) -> tuple[Told, ...]:
    """Kinds of words on a call path, the most distinctive kind first."""

    def targets(call_path: CallPath) -> Iterator[str]:
        return (
            word for frame in call_path for name in _assigned_names(frame, graph) for word in split_identifier(name)
        )

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
                yield from (word for name in identifiers(value) for word in split_identifier(name))


def _functions(call_path: CallPath) -> Iterator[str]:
    for frame in call_path:
        yield from () if frame.function.is_module else split_identifier(frame.function.name)
        yield from split_identifier(frame.edge.callee.name) if frame.edge is not None else ()


def _edges(call_path: CallPath) -> Iterator[Edge]:
    return (frame.edge for frame in call_path if frame.edge is not None)


def _arguments(edge: Edge) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The arguments of a call: (name of the parameter or "", expression)."""
    if edge.is_handed and isinstance(edge.node, cst.Call):
        for argument in edge.node.args:  # arguments passed along with the function say what it is for
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
    below = node
    for parent in graph.nodes.ancestors(node):
        if isinstance(parent, cst.If) and below is parent.body:
            yield from (word for name in identifiers(parent.test) for word in split_identifier(name))
        if isinstance(parent, cst.FunctionDef):
            return
        below = parent
