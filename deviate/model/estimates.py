"""What is computed from scores: estimates with their intervals, tests, descriptions, comparisons, verdicts."""

from dataclasses import dataclass
from typing import Literal

from deviate.model.plan import SelectedMetric


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The named answer to a degenerate question: a short reason, shown in place of the number."""

    reason: str


Estimate = float | Unavailable


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


@dataclass(frozen=True, slots=True)
class Test:
    """A hypothesis test, two-sided. `df` is None where the test has none; `note` says how: exact, permutation, ties."""

    __test__ = False

    name: str
    statistic: float
    p_value: float
    df: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """The aggregate of one run."""

    replicate: int
    value: float


@dataclass(frozen=True, slots=True)
class Description:
    """One metric over the runs of one experiment.

    Attributes:
        scores: finite scores of the runs that count, in order of replicate; n is their number.
        n_runs: runs that ended (failures included, lost and cancelled ones not).
        missing: replicates that gave no score, each with the reason ("crashed", "NaN at the last step", …).
        sd: ddof 1. cv: sd / |mean|.
        note: what a reader must know: "all 5 values equal", "1 run: spread unknown", "no completed run (0/5)".
    """

    metric: SelectedMetric
    scores: tuple[Score, ...]
    n_runs: int
    missing: tuple[tuple[int, str], ...]
    mean: Estimate
    mean_interval: Interval | Unavailable
    sd: Estimate
    sd_interval: Interval | Unavailable
    cv: Estimate
    median: Estimate
    minimum: Estimate
    maximum: Estimate
    range: Estimate
    note: str = ""

    @property
    def n(self) -> int:
        return len(self.scores)


Word = Literal["better", "worse", "higher", "lower", "equivalent", "undecided", "identical", "withheld"]
"""`withheld`: runs were looked at when no look was declared, so that no error rate stands behind any other word."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in one word, and why that one (the rule of statistics.md, 4, in a sentence)."""

    word: Word
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline in one metric. All differences are candidate minus baseline.

    Attributes:
        difference_interval: Welch.
        p_adjusted: Welch p after Holm over the family of this report; equals welch.p_value for the primary metric. At
            a declared look it is the repeated p: what the earlier looks may have spent is counted in.
        superiority: P(candidate > baseline) + P(equal) / 2; its interval is one-sided at complete separation.
        detectable: smallest difference these runs could have seen at 80 % power, in units of the metric.
        note: what a reader must know: "measured while up to 2 other runs shared the device".
    """

    metric: SelectedMetric
    candidate_metric: SelectedMetric
    baseline: Description
    candidate: Description
    difference: Estimate
    difference_interval: Interval | Unavailable
    welch: Test | Unavailable
    student: Test | Unavailable
    mann_whitney: Test | Unavailable
    p_adjusted: Estimate
    cohens_d: Estimate
    cohens_d_unweighted: Estimate
    hedges_g: Estimate
    hedges_g_interval: Interval | Unavailable
    superiority: Estimate
    brown_forsythe: Test | Unavailable
    sd_ratio: Estimate
    sd_ratio_interval: Interval | Unavailable
    detectable: Estimate
    verdict: Verdict
    superiority_interval: Interval | Unavailable = Unavailable("not computed")
    note: str = ""
