"""The hazards in what a script reaches."""

from deviate.analysis.hazards.registry import HAZARDS
from deviate.analysis.hazards.survey import Survey
from deviate.model import Hazard


def find_hazards(survey: Survey) -> tuple[Hazard, ...]:
    """All hazards, in source order.

    Each kind is reported once per line, and not at all in lines with a comment `# deviate: ignore`.
    """
    graph = survey.graph
    order = {file: number for number, file in enumerate(graph.project.files())}
    hazards: dict[tuple[str, str, int], Hazard] = {}
    for kind in HAZARDS.values():
        places = [
            (graph.nodes.place(node), node, message) for node, message in kind.match(survey) if survey.is_listed(node)
        ]
        seen = [
            Hazard(kind.name, place.file, place.line, graph.nodes.code(node), message)
            for place, node, message in places
        ]
        seen.sort(key=lambda hazard: (order[hazard.file], hazard.line))
        for hazard in seen:
            key = (kind.name, hazard.file, 0 if kind.is_reported_once else hazard.line)
            hazards.setdefault(key, hazard)
    return tuple(sorted(hazards.values(), key=lambda hazard: (order[hazard.file], hazard.line)))
