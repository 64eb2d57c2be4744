"""Figures and what stands in their place: estimates, intervals, tests, scores."""

import math
from dataclasses import dataclass, field

# Minimum numbers of runs for each statement, and numbers of resamples, shared by statistics and reports.

VERDICT_RUNS = 5
"""Fewer runs on a side are described, never judged: no verdict, equivalence, band, log-rank test, Dunnett."""
PAIRED_RUNS = 8
"""Fewest pairs that are judged: by flips of their signs 7 cannot fall below .0156, which two comparisons double."""
PAIRED_ALONE_RUNS = 6
"""Fewest pairs where a comparison is alone and no look is declared; 5 pairs cannot fall below .0625."""
SPREAD_RUNS = 16
"""With fewer runs nothing is said about which side is steadier: the interval of a ratio of SDs is too wide for it."""
N_RESAMPLES = 9999
"""Of runs: exchanges of a permutation test, and draws of a bootstrap."""
MANY_RESAMPLES = 99_999
"""Exchanges drawn if 9,999 leave open on which side of alpha p is."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The named answer to a degenerate question: a short reason, shown in place of the number.

    Attributes:
        kind: of the reason, by which code goes; that of a phrase is its own.
    """

    reason: str
    kind: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.kind is None:
            object.__setattr__(self, "kind", getattr(self.reason, "kind", None))


Estimate = float | Unavailable
NOT_ASKED = Unavailable("not asked for")
"""What nobody asked to be computed, such as a paired test of runs that were not paired."""
NOT_APPLICABLE = Unavailable("does not apply to this metric")
"""What is no question for the metric at hand, such as the error rate of what is no accuracy."""

NOT_SHOWN = frozenset({"rounding_se", "p_upper", "p_error", "missing_kinds", "further"})
"""Fields that decide how figures are rounded or judged, and are no figures of a report."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval.

    Attributes:
        method: how it was computed, e.g. "Student t".
        note: what it may not be taken for, e.g. "not valid: 2 unplanned looks".
    """

    low: float
    high: float
    confidence: float
    method: str
    note: str = ""


def level_text(confidence: float) -> str:
    """A confidence in percent; two significant digits of what is missing to 100 decide the decimals.

    >>> level_text(0.95), level_text(0.98594), level_text(0.9999853)
    ('95%', '98.6%', '99.9985%')
    """
    missing = 100 * (1 - confidence)
    places = 0 if missing <= 0 else max(0, 1 - int(f"{missing:.1e}".partition("e")[2]))
    text = f"{100 * confidence:.{places}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def value_text(value: float) -> str:
    """A recorded value to its last bit; one that is no finite number is named.

    >>> value_text(0.1), value_text(math.nan), value_text(-math.inf)
    ('0.1', 'NaN', '-infinite')
    """
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}infinite"


@dataclass(frozen=True, slots=True)
class Test:
    """A hypothesis test, two-sided. `df` is None where the test has none; `note` says how: exact, permutation, ties.

    Attributes:
        df_between: degrees of freedom of the numerator of an F over three or more experiments; `df` is the other one.
        p_error: three Monte-Carlo standard errors of a p from a sample of arrangements; 0 where p is exact.
    """

    __test__ = False

    name: str
    statistic: float
    p_value: float
    df: float | None = None
    note: str = ""
    df_between: float | None = None
    p_error: float = 0.0


@dataclass(frozen=True, slots=True)
class Score:
    """The aggregate of one run."""

    replicate: int
    value: float
