"""What the code of a script can do to its runs: sources of difference, seeds, and effects that outlast a run."""

from typing import Any

from deviate.analysis.resolve.calls import CallGraph
from deviate.sources.catalogue import find_hazards
from deviate.sources.seeds import seed_calls
from deviate.sources.side_effects import find_side_effects, output_paths
from deviate.sources.survey import Survey


def find(graph: CallGraph) -> dict[str, Any]:
    """The fields `hazards`, `side_effects`, `seeds` and `outputs` of an analysis."""
    survey = Survey(graph)
    return {
        "hazards": find_hazards(survey),
        "side_effects": find_side_effects(survey),
        "seeds": seed_calls(graph),
        "outputs": output_paths(survey),
    }
