"""What a number of runs can see: the smallest detectable difference, and the runs a difference needs."""

import math
from collections.abc import Callable

from scipy import optimize, stats

from deviate.model import Estimate, Unavailable
from deviate.stats.registry import statistic
from deviate.stats.sample import Values, moments, pooled_sd, refusal, spread_refusal

POWER = 0.8
MOST_RUNS = 1_000_000


@statistic(n_samples=2, minimum=2, shift="ignores", scale="follows")
def detectable_difference(
    baseline: Values, candidate: Values, *, confidence: float = 0.95, power: float = POWER
) -> Estimate:
    """Smallest true difference these runs would have seen with this power, in units of the metric.

    It takes the pooled SD as known, which few runs know badly.
    Source: noncentral t, as `statsmodels.stats.power.TTestIndPower`.
    """
    if reason := refusal(2, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    sd = pooled_sd(moments(baseline), moments(candidate))
    return sd * detectable_effect(len(baseline), len(candidate), confidence=confidence, power=power)


def detectable_effect(n_baseline: int, n_candidate: int, *, confidence: float = 0.95, power: float = POWER) -> float:
    """Smallest true difference, in standard deviations, seen with this power by a two-sided t-test.

    The tail on the far side is left out: it is below 1e-5 at 80 % power, and has no computable value for few runs.
    Source: noncentral t with n_A + n_B - 2 degrees of freedom.
    """
    df = n_baseline + n_candidate - 2
    critical = float(stats.t.ppf((1 + confidence) / 2, df))

    def shortfall(noncentrality: float) -> float:
        return power - float(stats.nct.sf(critical, df, noncentrality))

    high = critical + 1
    while shortfall(high) > 0:
        high *= 1.5
    noncentrality = float(optimize.brentq(shortfall, 0.0, high, xtol=1e-12, rtol=1e-12))
    return noncentrality * math.sqrt(1 / n_baseline + 1 / n_candidate)


def runs_needed(
    difference: float, baseline: Values, candidate: Values, *, confidence: float = 0.95, power: float = POWER
) -> int | Unavailable:
    """Runs of each variant that would see a true difference of this size with this power, given the observed spread."""
    if reason := refusal(2, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    effect = difference / pooled_sd(moments(baseline), moments(candidate))
    return runs_for_effect(effect, confidence=confidence, power=power)


def runs_for_effect(effect: float, *, confidence: float = 0.95, power: float = POWER) -> int | Unavailable:
    """Runs of each variant that would see a true difference of so many standard deviations with this power.

    Source: noncentral t, as `statsmodels.stats.power.TTestIndPower`.
    """
    return fewest(lambda n: detectable_effect(n, n, confidence=confidence, power=power) <= effect)


def fewest(suffices: Callable[[int], bool], least: int = 2) -> int | Unavailable:
    """The smallest number of runs from `least` on that suffices, where more never suffice less."""
    if suffices(least):
        return least
    low, high = least, 2 * least
    while not suffices(high):
        low, high = high, 2 * high
        if high > MOST_RUNS:
            return Unavailable("more than a million runs")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
