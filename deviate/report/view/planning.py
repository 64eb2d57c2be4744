"""What numbers of runs could see, as a report shows it."""

from dataclasses import dataclass

from deviate.report.view.parts import Row


@dataclass(frozen=True, slots=True)
class PlanningPlot:
    """Detectable difference against the number of runs.

    Attributes:
        index: of the experiment that gives colour and shape.
        points: (n, detectable difference). band: (n, low, high) for the ends of the interval of the SD.
        now: (n, detectable difference) of the runs on record; n is a mean where sides differ.
        margin: drawn as a line; None for none.
    """

    key: str
    title: str
    description: str
    caption: str
    axis: str
    n_axis: str
    index: int
    points: tuple[tuple[int, float], ...]
    band: tuple[tuple[int, float, float], ...]
    now: tuple[float, float]
    now_label: str
    margin: float | None
    margin_label: str


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
