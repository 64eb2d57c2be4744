"""What numbers of runs could see, given the spread of these runs: planning after the fact."""

from dataclasses import dataclass

from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Unavailable
from deviate.model.plan import SelectedMetric


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
