"""Plots as data: raw numbers, and the texts in and beside the figure."""

from dataclasses import dataclass
from typing import ClassVar

from deviate.model.analysis import LoopCounter
from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.records import Series

STEPS = LoopCounter("main-loop step", 0, 1)
"""How steps are counted where scripts report no counter of their own, or several different ones."""


def known(estimate: Estimate) -> float | None:
    """What is drawn of an estimate; None where there is none."""
    return None if isinstance(estimate, Unavailable) else estimate


Ends = tuple[float | None, float | None]
"""Of an interval that is drawn; None where there is none."""


def ends_of(interval: Interval | Unavailable) -> Ends:
    return (None, None) if isinstance(interval, Unavailable) else (interval.low, interval.high)


@dataclass(frozen=True, slots=True)
class Plot:
    """Base of all plots: `description` is the data in words, `caption` explains points and lines.

    Attributes:
        file_name: with `{title}` for its title up to a colon, `{whole_title}`, and `{part}` for the part of the report.
    """

    file_name: ClassVar[str] = "{title}"

    key: str
    title: str
    description: str
    caption: str


@dataclass(frozen=True, slots=True)
class PointGroup:
    """The scores of one experiment, or of one of its classes; `mean` and its interval are None where there are none.

    Attributes:
        index: place of the experiment in the report, which gives colour and shape.
        remark: stands in the row where there is no mean.
        names: of the values, for the pointer; empty where they are too many.
    """

    index: int
    label: str
    note: str
    values: tuple[float, ...]
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    remark: str = ""
    names: tuple[str, ...] = ()

    @property
    def one_sd(self) -> Ends:
        """The mean minus and plus one SD."""
        if self.mean is None or self.sd is None:
            return None, None
        return self.mean - self.sd, self.mean + self.sd


@dataclass(frozen=True, slots=True)
class PlottedDifference:
    """Difference of candidate and baseline with its interval; None where there is none to draw.

    Attributes:
        df: degrees of freedom of the t that stands for the uncertainty, at the confidence of the interval.
        margin: the smallest difference that matters.
        pairs: places of the two scores of each pair, of the baseline and of the candidate, where pairs decide.
    """

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    pairs: tuple[tuple[int, int], ...] = ()
    df: float | None = None
    confidence: float = 0.95
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class EstimationPlot(Plot):
    """Raw points of every experiment, baseline first, and the difference of each candidate to the baseline.

    Attributes:
        reading: what intervals and points mean for the question, for a reader who is no statistician.
        reference: a value that is marked in a figure of rows.
    """

    axis: str
    difference_axis: str
    groups: tuple[PointGroup, ...]
    differences: tuple[PlottedDifference, ...]
    reading: str = ""
    reference: float | None = None

    @property
    def has_shared_axis(self) -> bool:
        """Whether the difference is drawn beside the points, with its zero at the mean of the baseline."""
        return len(self.groups) == 2 and len(self.differences) == 1 and self.groups[0].mean is not None


@dataclass(frozen=True, slots=True)
class CurveGroup:
    """Runs of one experiment: completed ones and others; `index` as in `PointGroup`."""

    index: int
    label: str
    counted: tuple[Series, ...]
    failed: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class CurvePlot(Plot):
    """One metric over main-loop steps, for every run; `counter` numbers and names them.

    Attributes:
        n_lines: maximum number of runs of each group that are drawn; mean and band are those of all.
    """

    axis: str
    confidence: float
    groups: tuple[CurveGroup, ...]
    counter: LoopCounter = STEPS
    n_lines: int = 5_000


@dataclass(frozen=True, slots=True)
class ForestPlot(EstimationPlot):
    """SDs of the variants of one experiment in place of means, and in place of scores how far each is from the mean."""

    file_name: ClassVar[str] = "forest-{part}"


@dataclass(frozen=True, slots=True)
class RankPlot(EstimationPlot):
    """Mean ranks over tasks in place of means, best first, with half the critical difference to either side."""

    file_name: ClassVar[str] = "ranks"


@dataclass(frozen=True, slots=True)
class SurvivalLine:
    """Share of the runs of one experiment that have not reached the target, by step; a step function.

    Attributes:
        index: of the experiment, which gives the colour.
        ended: steps at which runs ended that never got there.
    """

    label: str
    note: str
    index: int
    points: tuple[tuple[int, float], ...]
    ended: tuple[int, ...]
    last: int


@dataclass(frozen=True, slots=True)
class SurvivalPlot(Plot):
    """Time to the target of one metric."""

    file_name: ClassVar[str] = "survival-{title}"

    lines: tuple[SurvivalLine, ...]


@dataclass(frozen=True, slots=True)
class PlanningPlot(Plot):
    """Detectable difference against the number of runs.

    Attributes:
        index: of the experiment that gives colour and shape.
        points: (n, detectable difference). band: (n, low, high) for the ends of the interval of the SD.
        now: (n, detectable difference) of the runs on record; n is a mean where sides differ.
        margin: drawn as a line; None for none.
    """

    file_name: ClassVar[str] = "planning-{part}"

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
class StepLine:
    """One line over main-loop steps or thresholds; NaN where there is no value or no interval.

    Attributes:
        index: of the experiment, which gives the colour.
        is_dashed: so that a line below it is seen where both are equal.
    """

    index: int
    label: str
    note: str
    steps: tuple[float, ...]
    values: tuple[float, ...]
    band: tuple[tuple[float, float], ...] = ()
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class StepsPlot(Plot):
    """Lines with bands over the steps of the main loop, such as the distance between runs.

    Attributes:
        first: the step at which a band leaves 0, or from which lines differ; None where there is none.
        from_zero: the axis has a place for 0. is_logarithmic: it is one of powers of ten, with a place for 0.
    """

    file_name: ClassVar[str] = "steps-{title}"

    axis: str
    lines: tuple[StepLine, ...]
    steps_axis: str = STEPS.name
    first: float | None = None
    from_zero: bool = True
    is_logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class ProfilePlot(StepsPlot):
    """Performance profiles of all experiments: the share of scores above each threshold."""

    file_name: ClassVar[str] = "profile"


@dataclass(frozen=True, slots=True)
class DifferencePlot(StepsPlot):
    """Difference of candidate and baseline over steps as the script counts, with a simultaneous confidence band."""

    file_name: ClassVar[str] = "difference-{whole_title}"


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One kernel: seconds in a window, None in a mode that does not call it."""

    label: str
    free: float | None
    held: float | None


@dataclass(frozen=True, slots=True)
class KernelPlot(Plot):
    """Kernels in rows, longest first, on a logarithmic time axis.

    Attributes:
        axis: its name. ticks: places in seconds, and what stands there.
        free, held: names of the modes.
    """

    axis: str
    ticks: tuple[tuple[float, str], ...]
    free: str
    held: str
    lines: tuple[KernelLine, ...]


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One value of the argument.

    Attributes:
        at: place on the axis: the value, or its number from 0 where values are words.
        label: the value as it was given.
        estimate, low, high: the measure and its interval, None where there is none.
        raw: scores of single runs where the measure is their mean.
    """

    at: float
    label: str
    estimate: float | None
    low: float | None = None
    high: float | None = None
    raw: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One variant over all values of the argument; `index` selects colour and shape."""

    index: int
    label: str
    points: tuple[SweepPoint, ...]


@dataclass(frozen=True, slots=True)
class SweepPlot(Plot):
    """Attributes: scale of the argument's axis: "log", "linear", or "names" where values are words."""

    axis: str
    argument: str
    scale: str
    from_zero: bool
    lines: tuple[SweepLine, ...]
