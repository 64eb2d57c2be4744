"""Comparison of spreads: tests of equal spread, the verdict on which side is steadier, and shares of variance."""

import math
from typing import Literal

import numpy as np
import scipy
from scipy import special

from deviate.model.comparisons import LESS_STEADY, Description, SpreadVerdict, SpreadWord
from deviate.model.estimates import SPREAD_RUNS, Estimate, Interval, Test, Unavailable
from deviate.model.phrases import Method, Note, Reason, remarks
from deviate.series.score import LARGEST
from deviate.stats.estimates.effect import sd_ratio_interval
from deviate.stats.estimates.sample import (
    Sample,
    Values,
    moments,
    never_zero,
    pooled_sd,
    refusal,
    resolution,
    spread_refusal,
    too_few,
    without_ratio,
)
from deviate.stats.estimates.summary import sd_ends
from deviate.stats.registry import statistic


@statistic(n_samples=2, minimum=10, shift="ignores", scale="ignores", refuse=without_ratio)
def brown_forsythe(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Test of equal spread: analysis of variance of the distances from the medians.

    Needs 10 runs in each: below, it rejects far too seldom to say anything.
    Source: Brown & Forsythe (1974).
    """
    return _distances_test("Brown-Forsythe", baseline, candidate, "median")


@statistic(n_samples=2, minimum=10, shift="ignores", scale="ignores", refuse=without_ratio)
def levene(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Test of equal spread with distances from the means, as in older reports; it rejects too often with few runs.

    Source: Levene (1960).
    """
    return _distances_test("Levene", baseline, candidate, "mean")


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=without_ratio)
def f_test(baseline: Sample, candidate: Sample) -> Test | Unavailable:
    """F test of equal variances, for comparison with published tables: it holds for normal scores only.

    The statistic is s_A^2 / s_B^2, `df` that of the candidate; p is twice the smaller tail.
    Source: F distribution of s_A^2 / s_B^2 with n_A - 1 and n_B - 1 degrees of freedom, as R's `var.test`.
    """
    b, a = moments(baseline), moments(candidate)
    # Beyond this every tail, and the square, would leave the range of floats.
    f = min(max(a.sd / b.sd, 1 / LARGEST), LARGEST) ** 2
    tail = min(float(special.fdtr(a.n - 1, b.n - 1, f)), float(special.fdtrc(a.n - 1, b.n - 1, f)))
    return Test("F", f, never_zero(2 * tail), a.n - 1, note=Note.NORMAL_THEORY(a.n - 1, b.n - 1))


def _distances_test(
    name: str, baseline: Values, candidate: Values, center: Literal["mean", "median"]
) -> Test | Unavailable:
    # The statistic has no scale and no origin; in units of the pooled spread squares stay in the range of floats.
    scale, origin = pooled_sd(moments(baseline), moments(candidate)), baseline[0]
    sides = [(np.asarray(values, dtype=np.float64) - origin) / scale for values in (baseline, candidate)]
    accuracy = resolution([*candidate, *baseline]) / scale
    distances = [np.abs(side - (np.median(side) if center == "median" else side.mean())) for side in sides]
    if all(np.ptp(of_side) <= accuracy for of_side in distances):
        return Unavailable(Reason.EQUALLY_FAR(center))
    found = scipy.stats.levene(*sides, center=center)
    return Test(name, float(found.statistic), never_zero(float(found.pvalue)), sum(map(len, sides)) - 2)


def decide_spread(
    baseline: Description,
    candidate: Description,
    *,
    brown_forsythe: Test | Unavailable,
    confidence: float,
    spread_ratio: float | None = None,
) -> SpreadVerdict:
    """Which side is steadier, by the interval of the SD ratio for normal scores.

    Args:
        brown_forsythe: has to agree, for it holds where scores are not normal too.
        spread_ratio: r given before; whether the interval lies within (1 / r, r) is said, which holds for normal scores
            only and is no verdict.

    Raises:
        ValueError: `spread_ratio` is not above 1.
    """
    if spread_ratio is not None and not 1 < spread_ratio < math.inf:
        raise ValueError(f"The ratio of spreads {spread_ratio:g} must be above 1.")
    word, reason = _judge_spread(baseline, candidate, brown_forsythe, confidence)
    inner = sd_ratio_interval(baseline.values, candidate.values, confidence=2 * confidence - 1)
    if spread_ratio is None or isinstance(inner, Unavailable) or min(baseline.n, candidate.n) < SPREAD_RUNS:
        return SpreadVerdict(word, reason, spread_ratio)
    is_within = 1 / spread_ratio < inner.low and inner.high < spread_ratio
    if is_within:
        reason = remarks(reason, Note.WITHIN_RATIO(inner.confidence, spread_ratio))
    return SpreadVerdict(word, reason, spread_ratio, is_within)


def _judge_spread(
    baseline: Description, candidate: Description, brown_forsythe: Test | Unavailable, confidence: float
) -> tuple[SpreadWord, str]:
    if few := too_few(SPREAD_RUNS, baseline.n, candidate.n):
        return "undecided", few.reason
    outer = sd_ratio_interval(baseline.values, candidate.values, confidence=confidence)
    if isinstance(outer, Unavailable):
        return "undecided", outer.reason
    for side, description in (("baseline", baseline), ("candidate", candidate)):
        if description.tails:
            return "undecided", Reason.OF(side, description.tails)
    if outer.low <= 1 <= outer.high:
        return "undecided", Reason.CONTAINS_ONE(outer.confidence)
    if isinstance(brown_forsythe, Unavailable):
        return "undecided", Reason.NO_ROBUST_TEST(outer.confidence, brown_forsythe.reason)
    if brown_forsythe.p_value >= 1 - confidence:
        return "undecided", Reason.ROBUST_OPEN(outer.confidence)
    return "steadier" if outer.high < 1 else LESS_STEADY, Reason.EXCLUDES_ONE(outer.confidence)


# Variances of variants: the share that one has in another, and what is left when parts are taken from the whole.


def _excess_refusal(minimum: int, *samples: Values) -> Unavailable | None:
    for values in samples:
        if reason := refusal(minimum, values):
            return reason
    if all(spread_refusal(values) for values in samples):
        return Unavailable(Reason.NO_SPREAD)
    return None


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores")
def variance_share(whole: Values, part: Values) -> Estimate:
    """Variance of a part over that of the whole; above 1 where the part happens to vary more."""
    if reason := refusal(2, whole, part) or spread_refusal(whole) or spread_refusal(part):
        return reason
    ratio = moments(part).sd / moments(whole).sd
    return _square(ratio)


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores")
def variance_share_interval(whole: Values, part: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the share for normal scores: the squares of the ends of the interval of the SD ratio.

    Source: F distribution of s_part^2 / s_whole^2.
    """
    interval = sd_ratio_interval(whole, part, confidence=confidence)
    if isinstance(interval, Unavailable):
        return interval
    low, high = _square(interval.low), _square(interval.high)
    if isinstance(low, Unavailable):
        return low
    return high if isinstance(high, Unavailable) else Interval(low, high, confidence, interval.method)


@statistic(n_samples=3, minimum=2, shift="ignores", scale="squares", refuse=_excess_refusal)
def variance_excess(both: Values, algo: Values, impl: Values) -> Estimate:
    """s_both^2 - s_algo^2 - s_impl^2, with its sign, in squared units of the scores.

    0 if independent sources add up; variances of training need not: sources interact, and saturate.
    """
    whole, one, other = (moments(values).sd ** 2 for values in (both, algo, impl))
    return whole - one - other


@statistic(n_samples=3, minimum=2, shift="ignores", scale="squares", refuse=_excess_refusal)
def variance_excess_interval(
    both: Values, algo: Values, impl: Values, *, confidence: float = 0.95
) -> Interval | Unavailable:
    """Interval of the excess for normal scores of independent variants, recovered from those of the variances.

    Each end takes from each variance the distance to that end of its chi-square interval that moves the excess the
    same way, and adds the three in quadrature. Variants that share seeds are positively correlated, which
    makes it too wide rather than too narrow. A bootstrap of five runs would cover 65 % (statistics of few runs), and
    Satterthwaite's approximation has no negative differences. A variant without spread adds no uncertainty.
    Source: Ting, Burdick, Graybill, Jeyaratnam & Lu (1990) for combinations of either sign; Zou & Donner (2008).
    """
    whole, one, other = (_variance_distances(values, confidence) for values in (both, algo, impl))
    excess = variance_excess(both, algo, impl)
    if isinstance(excess, Unavailable):
        return excess
    low = excess - math.hypot(whole[0], one[1], other[1])
    high = excess + math.hypot(whole[1], one[0], other[0])
    return Interval(low, high, confidence, Method.RECOVERY)


def _variance_distances(values: Values, confidence: float) -> tuple[float, float]:
    """Distances from a variance to the lower and the upper end of its chi-square interval."""
    sample = moments(values)
    variance = sample.sd**2
    low, high = (variance * end**2 for end in sd_ends(sample.n - 1, confidence))
    return variance - low, high - variance


def _square(ratio: float) -> Estimate:
    """The square, if it neither overflows nor becomes 0."""
    return ratio * ratio if 1 / LARGEST <= ratio <= LARGEST else Unavailable(Reason.TOO_EXTREME)
