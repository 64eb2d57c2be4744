"""Numbers of runs: what is needed for a difference, and what given numbers could see."""

from dataclasses import dataclass

from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Unavailable
from deviate.model.plan import SelectedMetric
from deviate.model.records import Spending


@dataclass(frozen=True, slots=True)
class PilotSide:
    """Runs on record of one method.

    Attributes:
        n: runs with a score, of `n_runs` that ended.
        wall_time_s: mean wall time of a completed run, None where it is not known.
    """

    name: str
    n: int
    n_runs: int
    wall_time_s: float | None


@dataclass(frozen=True, slots=True)
class Pilot:
    """The spread that a plan goes by, as runs on record show it, or as the user guesses it.

    Attributes:
        n: runs with a score, of all sides.
        sd: in units of the metric, ddof 1, pooled over two sides. interval: of it; unavailable for a guess.
        wall_time_s: mean wall time of a completed run, None where it is not known.
        sides: one or two experiments; none for a guess.
    """

    metric: str
    unit: str
    n: int
    sd: float
    interval: Interval | Unavailable
    wall_time_s: float | None = None
    sides: tuple[PilotSide, ...] = ()

    @property
    def name(self) -> str:
        """Of its experiments; empty for a guess."""
        return " and ".join(side.name for side in self.sides)


@dataclass(frozen=True, slots=True)
class Question:
    """What runs are to tell.

    Attributes:
        effect: difference of means in standard deviations; None where only numbers of runs are asked about.
        margin: of equivalence, in standard deviations; None for none.
        correlation: of pairs that share their seeds; None where runs are not paired.
        n_looks: declared looks at equal steps, the last one at the end; 1 for the end alone.
        n_candidates: compared with one baseline; the level is shared among them.
    """

    effect: float | None = None
    margin: float | None = None
    power: float = 0.8
    confidence: float = 0.95
    correlation: float | None = None
    n_looks: int = 1
    spending: Spending = "obrien-fleming"
    n_candidates: int = 1


@dataclass(frozen=True, slots=True)
class DesignRow:
    """What so many runs of each side can do; all but the powers in standard deviations.

    Attributes:
        half_width: of the interval of a mean, when the SD comes out as it is.
        sd_low, sd_high: ends of the interval of the SD over the SD.
        power, equivalence: for the effect and for the margin that were asked about.
    """

    n: int
    detectable: Estimate
    half_width: float
    sd_low: float
    sd_high: float
    power: Estimate
    equivalence: Estimate


@dataclass(frozen=True, slots=True)
class Design:
    """The answer.

    Attributes:
        runs: of each side for the effect; runs_range: the same at either end of the interval of the pilot's SD.
        rank_runs: of each side for a rank test, of normal scores with that effect.
        margin_runs: of each side to show equivalence within the margin when there is no difference.
        looks: runs of each side at each declared look, the last one the most that can be needed.
        expected_runs: of each side on average, with these looks and this effect.
        spread_runs: of each side to tell SDs apart whose ratio is 1.25, 1.5, 2 and 3.
        usual: numbers of runs of each side that many take, the first the fewest of a verdict, with the smallest
            difference that they detect, in standard deviations.
    """

    question: Question
    pilot: Pilot | None
    runs: int | Unavailable
    runs_range: tuple[int | Unavailable, int | Unavailable] | Unavailable
    rank_runs: int | Unavailable
    margin_runs: int | Unavailable
    looks: tuple[int, ...]
    expected_runs: Estimate
    spread_runs: tuple[tuple[float, int | Unavailable], ...]
    rows: tuple[DesignRow, ...]
    usual: tuple[tuple[int, Estimate], ...]


# What numbers of runs could see, given the spread of these runs: planning after the fact.


@dataclass(frozen=True, slots=True)
class PlanningRow:
    """What so many runs of each side, or so many pairs, could see.

    Attributes:
        detectable: smallest true difference seen with the power of the planning, in units of the metric. low, high:
            the same for the ends of the interval of the SD; None where that has none.
    """

    n: int
    detectable: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Planning:
    """Detectable difference against the number of runs in the primary metric; never from an observed difference.

    Attributes:
        baseline, candidate: whose spread it is; `candidate` is empty for one experiment, of which two methods with
            this spread are planned.
        sd: pooled over both sides; of the differences where runs are paired; of the one experiment otherwise.
        n_now: runs of each side on record (for one experiment as many on the other side), or pairs once.
        now: what these could see, at one test without looks.
        rows: in order of n, with the runs on record and twice as many among them; empty where there is no SD.
        runs_for_margin: of each side, or pairs, that see a true difference as large as the margin; never fewer than
            a verdict takes. runs_for_margin_range: the same for the ends of the interval of the SD.
        runs_for_equivalence: of each side, or pairs, that show equivalence within the margin where there is no
            difference.
    """

    metric: SelectedMetric
    baseline: str
    candidate: str
    is_paired: bool
    power: float
    confidence: float
    sd: Estimate
    sd_interval: Interval | Unavailable
    n_now: tuple[int, ...]
    now: Estimate
    now_interval: Interval | Unavailable
    rows: tuple[PlanningRow, ...]
    margin: float | None = None
    runs_for_margin: int | Unavailable = NOT_ASKED
    runs_for_margin_range: tuple[int | Unavailable, int | Unavailable] | Unavailable = NOT_ASKED
    runs_for_equivalence: int | Unavailable = NOT_ASKED


@dataclass(frozen=True, slots=True)
class PrecisionTarget:
    """The target width of the interval of a mean.

    Attributes:
        half_width: in units of the metric, or, with `is_percent`, in percent of the mean.
    """

    metric: str
    half_width: float
    is_percent: bool = False

    @property
    def text(self) -> str:
        """The target as text, `test_acc ±0.5`, for records and messages; `parse_target` reads it back."""
        return f"{self.metric} ±{self.half_width:.12g}{'%' if self.is_percent else ''}"
