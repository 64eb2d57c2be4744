"""What figures are drawn from."""

from dataclasses import dataclass

from deviate.model import Series


@dataclass(frozen=True, slots=True)
class PointGroup:
    """The scores of one experiment; `mean` and its interval are None where the findings have none.

    Attributes:
        index: place of the experiment in the report, which gives colour and shape.
    """

    index: int
    label: str
    note: str
    values: tuple[float, ...]
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None

    @property
    def one_sd(self) -> tuple[float | None, float | None]:
        """The ends of one SD to either side of the mean."""
        if self.mean is None or self.sd is None:
            return None, None
        return self.mean - self.sd, self.mean + self.sd


@dataclass(frozen=True, slots=True)
class PlottedDifference:
    """Candidate minus baseline with its interval; None where there is none to draw.

    Attributes:
        pairs: places of the two scores of each pair, of the baseline and of the candidate, where pairs decide.
    """

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    pairs: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class EstimationPlot:
    """Raw points of every experiment, the baseline first, and the difference of each candidate to it.

    Here as in every plot, `description` is its numbers in words, and `caption` says what points and lines are.
    """

    key: str
    title: str
    description: str
    caption: str
    axis: str
    difference_axis: str
    groups: tuple[PointGroup, ...]
    differences: tuple[PlottedDifference, ...]

    @property
    def has_shared_axis(self) -> bool:
        """Whether the difference stands beside the points, its zero at the mean of the baseline."""
        return len(self.groups) == 2 and len(self.differences) == 1 and self.groups[0].mean is not None


@dataclass(frozen=True, slots=True)
class CurveGroup:
    """The runs of one experiment: those that count, and those that ended otherwise; `index` is as in `PointGroup`."""

    index: int
    label: str
    counted: tuple[Series, ...]
    failed: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """One metric over main-loop steps, in every run."""

    key: str
    title: str
    description: str
    caption: str
    axis: str
    confidence: float
    groups: tuple[CurveGroup, ...]


@dataclass(frozen=True, slots=True)
class ForestRow:
    """The spread of one variant: SD with its interval, and how far each run is from the variant's mean.

    Attributes:
        remark: stands in the figure where there is no SD, or none but 0.
    """

    label: str
    note: str
    sd: float | None
    low: float | None
    high: float | None
    distances: tuple[float, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class ForestPlot:
    """SDs of the variants of one experiment; `reference` is the SD that the others are measured by."""

    key: str
    title: str
    description: str
    caption: str
    axis: str
    reference: float | None
    rows: tuple[ForestRow, ...]
