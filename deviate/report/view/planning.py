"""What numbers of runs could see, as a report shows it."""

from dataclasses import dataclass

from deviate.report.document import Row
from deviate.report.plots import PlanningPlot


@dataclass(frozen=True, slots=True)
class PlanningPart:
    """One candidate, or the single experiment.

    Attributes:
        missing: why there is neither figure nor table; empty where there are.
        is_folded: further candidates are there, but folded away.
    """

    anchor: str
    heading: str
    sentences: tuple[str, ...]
    missing: str
    first: str
    headers: tuple[str, ...]
    rows: tuple[Row, ...]
    plot: PlanningPlot | None
    is_folded: bool


@dataclass(frozen=True, slots=True)
class PlanningView:
    """What numbers of runs could see; `no_planning` says why there is nothing."""

    no_planning: str
    parts: tuple[PlanningPart, ...]
    footnotes: tuple[str, ...]
