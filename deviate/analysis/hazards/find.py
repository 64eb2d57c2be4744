"""The hazards in what a script reaches."""

import libcst as cst

from deviate.analysis.hazards.registry import HAZARDS
from deviate.analysis.hazards.survey import Survey
from deviate.analysis.metrics.collect import IGNORE
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.order import is_dead
from deviate.model import Hazard


def find_hazards(survey: Survey) -> tuple[Hazard, ...]:
    """All hazards, in source order.

    Each kind is reported once per line, and not at all in lines with a comment `# deviate: ignore`.
    """
    graph = survey.graph
    order = {file: number for number, file in enumerate(graph.project.files())}
    hazards: dict[tuple[str, str, int], Hazard] = {}
    for kind in HAZARDS.values():
        seen = [
            Hazard(kind.name, place.file, place.line, graph.nodes.code(node), message)
            for node, message in kind.match(survey)
            if not is_dead(node, graph.nodes) and not _is_unreached(node, graph)
            for place in [graph.nodes.place(node)]
            if not IGNORE.search(graph.nodes.source(node).lines[place.line - 1])
        ]
        seen.sort(key=lambda hazard: (order[hazard.file], hazard.line))
        for hazard in seen:
            key = (kind.name, hazard.file, 0 if kind.is_reported_once else hazard.line)
            hazards.setdefault(key, hazard)
    return tuple(sorted(hazards.values(), key=lambda hazard: (order[hazard.file], hazard.line)))


def _is_unreached(node: cst.CSTNode, graph: CallGraph) -> bool:
    """Whether a node is in the `if __name__ == "__main__"` part of an imported file."""
    module = graph.nodes.function_of(node).module
    return module is not graph.project.entry and any(parent in module.guards for parent in graph.nodes.ancestors(node))
