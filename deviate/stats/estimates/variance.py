"""Variances of variants: the share that one has in another, and what is left when parts are taken from the whole."""

import math

from scipy import stats

from deviate.model import Estimate, Interval, Unavailable
from deviate.stats.estimates.effect import sd_ratio_interval
from deviate.stats.estimates.sample import LARGEST, Values, moments, refusal, spread_refusal
from deviate.stats.registry import statistic


def _excess_refusal(minimum: int, *samples: Values) -> Unavailable | None:
    for values in samples:
        if reason := refusal(minimum, values):
            return reason
    if all(spread_refusal(values) for values in samples):
        return Unavailable("no spread in any of the three")
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
    same way, and joins the three as legs of a right angle. Variants that share seeds are positively correlated, which
    makes it too wide rather than too narrow. A bootstrap of five runs would cover 65 % (statistics of few runs), and
    Satterthwaite's approximation knows no negative differences. A variant without spread brings no uncertainty.
    Source: Ting, Burdick, Graybill, Jeyaratnam & Lu (1990) for combinations of either sign; Zou & Donner (2008).
    """
    whole, one, other = (_variance_distances(values, confidence) for values in (both, algo, impl))
    excess = variance_excess(both, algo, impl)
    if isinstance(excess, Unavailable):
        return excess
    low = excess - math.hypot(whole[0], one[1], other[1])
    high = excess + math.hypot(whole[1], one[0], other[0])
    return Interval(low, high, confidence, "variance recovery from chi-square")


def _variance_distances(values: Values, confidence: float) -> tuple[float, float]:
    """Distances from a variance to the lower and the upper end of its chi-square interval."""
    sample = moments(values)
    df, variance = sample.n - 1, sample.sd**2
    low, high = (
        variance * df / float(stats.chi2.ppf(tail, df)) for tail in ((1 + confidence) / 2, (1 - confidence) / 2)
    )
    return variance - low, high - variance


def _square(ratio: float) -> Estimate:
    """The square, if it neither overflows nor becomes 0."""
    return ratio * ratio if 1 / LARGEST <= ratio <= LARGEST else Unavailable("too extreme to state")
