"""Finds the side effects in the code that a script reaches."""

import libcst as cst

from deviate.analysis.hazards.survey import Survey
from deviate.analysis.side_effects.destinations import Destinations
from deviate.analysis.side_effects.rules import RULES
from deviate.model import SideEffect
from deviate.model.metric_vocabulary import split_identifier, word_set

LONGEST_CONDITION = 48
RANKS = word_set("rank main master process primary")
"""Words of conditions that hold in only one process of each run."""


def find_side_effects(survey: Survey) -> tuple[SideEffect, ...]:
    """All of them in source order, each kind once in a line; a path only once for all that is written below it.

    Lines with `# deviate: ignore` and unreachable code are left out.
    """
    graph = survey.graph
    order = {file: number for number, file in enumerate(graph.project.files())}
    effects: dict[tuple[str, str, int], SideEffect] = {}
    destinations = Destinations(survey)
    for rule in RULES:
        for kind, node, subject in rule(survey, destinations):
            if survey.is_listed(node):
                place, what = graph.nodes.place(node), subject + _condition(node, survey)
                effects.setdefault((kind, place.file, place.line), SideEffect(kind, what, place.file, place.line))
    in_order = sorted(effects.values(), key=lambda effect: (order[effect.file], effect.line, effect.kind))
    return tuple(effect for number, effect in enumerate(in_order) if not _is_below(effect, in_order[:number]))


def _is_below(effect: SideEffect, earlier: list[SideEffect]) -> bool:
    path = effect.what.rstrip("…/")
    return effect.kind == "absolute-path" and any(
        other.kind == effect.kind and (path == (above := other.what.rstrip("…/")) or path.startswith(f"{above}/"))
        for other in earlier
    )


def _condition(node: cst.CSTNode, survey: Survey) -> str:
    """The condition under which a node runs, if it is in the same function."""
    below = node
    for parent in survey.nodes.ancestors(node):
        if isinstance(parent, cst.FunctionDef | cst.Module):
            break
        if isinstance(parent, cst.If) and below is not parent.test:
            if parent in survey.nodes.function_of(node).module.guards:
                break
            test = survey.nodes.code(parent.test)
            if RANKS.isdisjoint(split_identifier(test)) and len(test) <= LONGEST_CONDITION:
                return f", {'if' if below is parent.body else 'unless'} {test}"
            break
        below = parent
    return ""
