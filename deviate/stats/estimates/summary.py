"""Comparison of two samples by their summaries: number of runs, mean and SD; candidate minus baseline.

The functions of scores in `two_sample` and `effect` compute from here, so that a published table and the runs behind it
give the same figures.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy import special

from deviate.model.comparisons import Verdict
from deviate.model.estimates import Estimate, Interval, Reason, Test, Unavailable
from deviate.series.score import LARGEST
from deviate.stats.estimates.sample import SampleSummary, never_zero, pooled_sd

CORRECTED_DF = 14
"""Degrees of freedom from which the small-sample correction hardly moves the ends of an interval."""
UNKNOWN_SCORES = "their scores are not known"
"""Why the verdict on two rows of a table is undecided."""


def welch(baseline: SampleSummary, candidate: SampleSummary) -> Test | Unavailable:
    """Welch's t-test of the difference of means. Two runs in each.

    Source: Welch (1947).
    """
    if reason := refusal(2, baseline, candidate):
        return reason
    df = welch_df(baseline, candidate)
    return t_test("Welch t", (candidate.mean - baseline.mean) / math.hypot(candidate.se, baseline.se), df)


def welch_interval(
    baseline: SampleSummary, candidate: SampleSummary, *, confidence: float = 0.95
) -> Interval | Unavailable:
    """Interval of the difference of means, variances not assumed equal. Two runs in each.

    Source: Welch (1947).
    """
    if reason := refusal(2, baseline, candidate):
        return reason
    se = math.hypot(candidate.se, baseline.se)
    half_width = t_quantile((1 + confidence) / 2, welch_df(baseline, candidate)) * se
    difference = candidate.mean - baseline.mean
    return Interval(difference - half_width, difference + half_width, confidence, "Welch")


def student(baseline: SampleSummary, candidate: SampleSummary) -> Test | Unavailable:
    """Student's t-test with pooled variance, for comparison with older reports. Two runs in each.

    Source: Student (1908).
    """
    if reason := refusal(2, baseline, candidate):
        return reason
    t = (candidate.mean - baseline.mean) / pooled_sd(baseline, candidate) / _per_unit(baseline, candidate)
    return t_test("Student t", t, baseline.n + candidate.n - 2, note="equal variances assumed")


def cohens_d(baseline: SampleSummary, candidate: SampleSummary) -> Estimate:
    """Difference of means in units of the pooled SD, weighted by degrees of freedom. Two runs in each.

    Source: Hedges (1981), before the correction for small samples.
    """
    if reason := refusal(2, baseline, candidate):
        return reason
    return (candidate.mean - baseline.mean) / pooled_sd(baseline, candidate)


def cohens_d_unweighted(baseline: SampleSummary, candidate: SampleSummary) -> Estimate:
    """Difference of means over sqrt((s_A^2 + s_B^2) / 2), as the DEVIATE paper defines it. Two runs in each.

    Source: Pham et al. (2021).
    """
    if reason := refusal(2, baseline, candidate):
        return reason
    return (candidate.mean - baseline.mean) / (math.hypot(candidate.sd, baseline.sd) / math.sqrt(2))


def hedges_correction(df: int) -> float:
    """Factor J that removes the small-sample bias of Cohen's d: gamma(k/2) / (sqrt(k/2) gamma((k-1)/2)).

    Source: Hedges (1981).
    """
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def hedges_g(baseline: SampleSummary, candidate: SampleSummary) -> Estimate:
    """Cohen's d times the small-sample correction J. Three runs in each.

    Source: Hedges (1981).
    """
    if reason := refusal(3, baseline, candidate):
        return reason
    d = cohens_d(baseline, candidate)
    return d if isinstance(d, Unavailable) else d * hedges_correction(baseline.n + candidate.n - 2)


def hedges_g_interval(
    baseline: SampleSummary, candidate: SampleSummary, *, confidence: float = 0.95
) -> Interval | Unavailable:
    """Interval of the effect: the noncentralities under which the observed t is at either tail.

    Three runs in each. From 8 runs in each on (14 degrees of freedom) it is times J, as g is. J takes the bias from an
    estimate; of an interval that covers exactly it makes one that covers J times the effect. With 8 runs that is as
    good as the same; with 3, and an effect of 2 SD, it would cover the effect in 90 % of cases instead of 95 %.
    Source: Hedges (1981); noncentral t with n_A + n_B - 2 degrees of freedom.
    """
    if reason := refusal(3, baseline, candidate):
        return reason
    d = cohens_d(baseline, candidate)
    if isinstance(d, Unavailable):
        return d
    df, per_unit = baseline.n + candidate.n - 2, _per_unit(baseline, candidate)
    low = _noncentrality(d / per_unit, df, (1 + confidence) / 2)
    high = _noncentrality(d / per_unit, df, (1 - confidence) / 2)
    if low is None or high is None:
        return Unavailable("effect too large for the noncentral t")
    is_corrected = df >= CORRECTED_DF
    scale = per_unit * (hedges_correction(df) if is_corrected else 1.0)
    return Interval(low * scale, high * scale, confidence, "noncentral t" if is_corrected else "noncentral t, of d")


def sd_ratio(baseline: SampleSummary, candidate: SampleSummary) -> Estimate:
    """SD of the candidate over SD of the baseline. Five runs in each, and spread in both."""
    return ratio_refusal(5, baseline, candidate) or candidate.sd / baseline.sd


def sd_ratio_interval(
    baseline: SampleSummary, candidate: SampleSummary, *, confidence: float = 0.95
) -> Interval | Unavailable:
    """Interval of the SD ratio for normal scores. Five runs in each, and spread in both.

    Source: F distribution of s_A^2 / s_B^2 with n_A - 1 and n_B - 1 degrees of freedom.
    """
    if reason := ratio_refusal(5, baseline, candidate):
        return reason
    ratio, df_a, df_b, tail = candidate.sd / baseline.sd, candidate.n - 1, baseline.n - 1, (1 + confidence) / 2
    low = ratio / math.sqrt(float(special.fdtri(df_a, df_b, tail)))
    high = ratio * math.sqrt(float(special.fdtri(df_b, df_a, tail)))
    return Interval(low, high, confidence, "F, normal theory")


def f_test(baseline: SampleSummary, candidate: SampleSummary) -> Test | Unavailable:
    """F test of equal variances, for comparison with published tables: it holds for normal scores only.

    The statistic is s_A^2 / s_B^2, `df` that of the candidate; p is twice the smaller tail. Five runs in each.
    Source: F distribution with n_A - 1 and n_B - 1 degrees of freedom, as R's `var.test`.
    """
    if reason := ratio_refusal(5, baseline, candidate):
        return reason
    ratio = candidate.sd / baseline.sd
    # Beyond this every tail, and the square, would leave the range of floats.
    f = min(max(ratio, 1 / LARGEST), LARGEST) ** 2
    df_a, df_b = candidate.n - 1, baseline.n - 1
    tail = min(float(special.fdtr(df_a, df_b, f)), float(special.fdtrc(df_a, df_b, f)))
    return Test("F", f, never_zero(2 * tail), df_a, note=f"normal theory, {df_a} and {df_b} df")


def mean_interval(side: SampleSummary, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Student t interval of the mean: m ± t(1 - alpha/2; n-1) s / sqrt(n). Two runs.

    Source: Student (1908).
    """
    if reason := _alone(side):
        return reason
    half_width = t_quantile((1 + confidence) / 2, side.n - 1) * side.se
    return Interval(side.mean - half_width, side.mean + half_width, confidence, "Student t")


def sd_interval(side: SampleSummary, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Chi-square interval of the standard deviation, for normal scores. Two runs.

    Source: s sqrt((n-1) / chi2(1 - alpha/2; n-1)) to s sqrt((n-1) / chi2(alpha/2; n-1)); Pham et al. (2021).
    """
    if reason := _alone(side):
        return reason
    low, high = sd_ends(side.n - 1, confidence)
    return Interval(side.sd * low, side.sd * high, confidence, "chi-square")


def sd_ends(df: int, confidence: float) -> tuple[float, float]:
    """Ends of the interval of an SD over the SD.

    Source: chi-square with `df` degrees of freedom; `chdtri` counts the tail above.
    """
    low, high = (
        math.sqrt(df / float(special.chdtri(df, tail))) for tail in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    return low, high


def refusal(minimum: int, baseline: SampleSummary, candidate: SampleSummary) -> Unavailable | None:
    """Why these two samples are not usable with `minimum` runs in each; None if they are."""
    if min(baseline.n, candidate.n) < minimum:
        plural = "" if minimum == 1 else "s"
        return Unavailable(f"needs {minimum} run{plural} in each, has {baseline.n} and {candidate.n}")
    figures = [figure for side in (baseline, candidate) for figure in (side.mean, side.sd)]
    if not all(abs(figure) <= LARGEST for figure in figures) or min(baseline.sd, candidate.sd) < 0:
        return Unavailable("a mean or SD that is NaN or infinite, or a negative SD")
    if max(baseline.sd, candidate.sd) >= _finest(baseline, candidate):
        return None
    is_same = baseline.mean == candidate.mean
    return Unavailable.because(Reason.IDENTICAL if is_same else Reason.CONSTANT_DIFFERENCE)


def ratio_refusal(minimum: int, baseline: SampleSummary, candidate: SampleSummary) -> Unavailable | None:
    """Why the spreads of these two have no ratio; None when both have spread."""
    if reason := refusal(minimum, baseline, candidate):
        return reason
    for name, side in (("baseline", baseline), ("candidate", candidate)):
        if side.sd < _finest(side, side):
            return Unavailable(f"{name}: no spread")
    return None


def _alone(side: SampleSummary) -> Unavailable | None:
    if side.n < 2:
        return Unavailable(f"needs 2 runs, has {side.n}")
    if reason := refusal(2, side, side):
        return Unavailable("no spread") if reason.kind is Reason.IDENTICAL else reason
    return None


def welch_df(baseline: SampleSummary, candidate: SampleSummary) -> float:
    """Degrees of freedom from the shares of the two standard errors.

    Source: Welch (1947), Satterthwaite (1946).
    """
    total = math.hypot(candidate.se, baseline.se)
    share_a, share_b = (candidate.se / total) ** 2, (baseline.se / total) ** 2
    return 1 / (share_a**2 / (candidate.n - 1) + share_b**2 / (baseline.n - 1))


def t_test(name: str, statistic: float, df: float, note: str = "") -> Test:
    """A two-sided t-test from its statistic."""
    return Test(name, statistic, never_zero(2 * float(special.stdtr(df, -abs(statistic)))), df, note)


def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t; `scipy.stats.t.ppf` without its overhead for arrays."""
    return float(special.stdtrit(df, probability))


def _finest(baseline: SampleSummary, candidate: SampleSummary) -> float:
    """SDs below this are rounding errors of numbers as large as the means: a millionth of a unit in the last place.

    Scores themselves are judged by their range; a single different one among many runs has a far smaller SD.
    """
    return max(math.ulp(max(abs(baseline.mean), abs(candidate.mean))), 1 / LARGEST) / 1e6


def _per_unit(baseline: SampleSummary, candidate: SampleSummary) -> float:
    """Standard error of the difference for a common SD of 1."""
    return math.sqrt(1 / baseline.n + 1 / candidate.n)


def _noncentrality(t: float, df: int, probability: float) -> float | None:
    """Noncentrality under which P(T <= t) is `probability`; None where the distribution cannot be computed."""
    if t < 0:
        mirrored = _noncentrality(-t, df, 1 - probability)
        return None if mirrored is None else -mirrored

    def excess(noncentrality: float) -> float:
        return float(special.nctdtr(df, noncentrality, t)) - probability

    low, high = _bracket(excess, t)
    if not (excess(low) >= 0 >= excess(high)):
        return None
    from scipy import optimize  # not needed by the running means of `show` and of the progress display

    return float(optimize.brentq(excess, low, high, xtol=1e-12, rtol=1e-12))


def _bracket(excess: Callable[[float], float], start: float) -> tuple[float, float]:
    """Bracket a root: widen around `start` until the decreasing function changes sign or cannot be computed."""
    step = 1.0 + start / 8
    low = high = start
    while excess(low) < 0:
        low -= step
    while excess(high) > 0:
        high += step
    return low, high


def verdict(baseline: SampleSummary, candidate: SampleSummary) -> Verdict:
    """The verdict on two rows of a table: always undecided, as the permutation test needs scores."""
    reason = refusal(2, baseline, candidate)
    return Verdict("undecided", reason.reason if reason else UNKNOWN_SCORES)


# Figures of published tables: what rounded numbers can stand for, and formulas that give the printed ones.


@dataclass(frozen=True, slots=True)
class Variability:
    """Variability of the runs of one method; the five measures of Summers & Dinneen (2021).

    Attributes:
        sd_accuracy, sd_cross_entropy: over runs.
        disagreement: mean share of examples on which two runs disagree. correlation: mean of their outputs, below 1.
        ensemble_delta: mean gain of an ensemble of two over its members.
    """

    sd_accuracy: float
    sd_cross_entropy: float
    disagreement: float
    correlation: float
    ensemble_delta: float


def variability_reduction(single: Variability, other: Variability) -> float | Unavailable:
    """Percentage by which a method varies less than single models, mean over the five measures.

    Of the correlation it is the distance from 1 that counts; the raw correlation does not give the published rows.
    Source: Summers & Dinneen (2021), as recovered from their table.
    """
    pairs = (
        (single.sd_accuracy, other.sd_accuracy),
        (single.sd_cross_entropy, other.sd_cross_entropy),
        (single.disagreement, other.disagreement),
        (1 - single.correlation, 1 - other.correlation),
        (single.ensemble_delta, other.ensemble_delta),
    )
    if not all(math.isfinite(before) and math.isfinite(after) for before, after in pairs):
        return Unavailable("a measure has no finite value")
    if not all(before > 0 for before, _ in pairs[:-1]):
        return Unavailable("single models do not vary in one of the measures")
    if single.ensemble_delta <= 0:
        return Unavailable("averaging two single models gains nothing")
    return 100 * math.fsum(1 - after / before for before, after in pairs) / len(pairs)


def feasible_sd(difference: float, n: int) -> Interval | Unavailable:
    """Smallest and largest SD (ddof 1) that n runs with this range can have.

    Smallest with all runs but the two extremes in the middle, largest with half of them at either end.
    Source: Popoviciu (1935) for the upper end, Nagy (1918) for the lower one.
    """
    if n < 2 or not 0 < difference < math.inf:
        return Unavailable("needs 2 runs that differ")
    half = n // 2
    high = difference * math.sqrt(half * (n - half) / (n * (n - 1)))
    return Interval(difference / math.sqrt(2 * (n - 1)), high, 1.0, "range of n runs")


def shares(counts: Sequence[int]) -> tuple[float, ...]:
    """Percentages of the sum of counts; empty for a sum of 0."""
    total = sum(counts)
    return tuple(100 * count / total for count in counts) if total else ()
