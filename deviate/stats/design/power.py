"""Power: the smallest difference that a number of runs can detect, and the runs that a difference needs.

Power is that of the rule of a verdict, for scores near normal: the t-test's, less what the permutation test costs where
there are few arrangements. Skewed scores need more runs.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from deviate.model.estimates import PAIRED_ALONE_RUNS, VERDICT_RUNS, Estimate, Interval, Unavailable
from deviate.model.phrases import Method, Reason
from deviate.stats.estimates.sample import (
    Values,
    differences_of,
    moments,
    pooled_sd,
    refusal,
    without_spread,
)
from deviate.stats.estimates.summary import noncentrality, sd_ends, t_quantile
from deviate.stats.registry import statistic

POWER = 0.8
NO_LEVEL = Unavailable(Reason.NO_LEVEL)
LOSS = ((1.0, 1.40), (1.6, 1.27), (3.2, 1.09), (6.4, 1.04), (12.8, 1.03), (25.0, 1.015), (100.0, 1.01), (1000.0, 1.0))
"""Factor by which an effect has to be larger because both tests have to detect it, by the ratio of alpha to the
smallest possible p of the permutation test: 1.6 for 6 pairs at .05, 6.3 for 5 v 5 runs. Simulated for normal scores,
2,000 trials each; interpolated in the logarithm."""
MOST_RUNS = 1_000_000


@statistic(n_samples=2, minimum=VERDICT_RUNS, shift="ignores", scale="follows")
def detectable_difference(
    baseline: Values, candidate: Values, *, confidence: float = 0.95, power: float = POWER
) -> Estimate:
    """Smallest true difference that these runs would have detected with this power, in units of the metric.

    It treats the pooled SD as known; few runs estimate it poorly.
    Source: noncentral t, as `statsmodels.stats.power.TTestIndPower`.
    """
    return _detectable(baseline, candidate, confidence, power, is_paired=False)


@statistic(n_samples=2, minimum=VERDICT_RUNS, shift="ignores", scale="follows")
def detectable_interval(
    baseline: Values, candidate: Values, *, confidence: float = 0.95, power: float = POWER
) -> Interval | Unavailable:
    """Detectable difference for the ends of the interval of the pooled SD, which few runs estimate poorly.

    Source: chi-square with n_A + n_B - 2 degrees of freedom, equal variances assumed.
    """
    return _detectable_ends(baseline, candidate, confidence, power, is_paired=False)


@statistic(n_samples=2, minimum=PAIRED_ALONE_RUNS, shift="ignores", scale="follows", is_paired=True)
def detectable_paired(
    baseline: Values, candidate: Values, *, confidence: float = 0.95, power: float = POWER
) -> Estimate:
    """Smallest true difference that these pairs would have detected with this power, in units of the metric.

    Source: noncentral t, as `statsmodels.stats.power.TTestPower`.
    """
    return _detectable(baseline, candidate, confidence, power, is_paired=True)


@statistic(n_samples=2, minimum=PAIRED_ALONE_RUNS, shift="ignores", scale="follows", is_paired=True)
def detectable_paired_interval(
    baseline: Values, candidate: Values, *, confidence: float = 0.95, power: float = POWER
) -> Interval | Unavailable:
    """Detectable paired difference for the ends of the interval of the SD of the differences.

    Source: chi-square with n - 1 degrees of freedom.
    """
    return _detectable_ends(baseline, candidate, confidence, power, is_paired=True)


def _detectable(baseline: Values, candidate: Values, confidence: float, power: float, *, is_paired: bool) -> Estimate:
    least = PAIRED_ALONE_RUNS if is_paired else VERDICT_RUNS
    spread = refusal(least, baseline, candidate) or spread_within(baseline, candidate, is_paired=is_paired)
    if isinstance(spread, Unavailable):
        return spread
    size = spread[0] * detectable_effect(
        len(baseline), len(candidate), confidence=confidence, power=power, is_paired=is_paired
    )
    return size if math.isfinite(size) else NO_LEVEL


def _detectable_ends(
    baseline: Values, candidate: Values, confidence: float, power: float, *, is_paired: bool
) -> Interval | Unavailable:
    size = _detectable(baseline, candidate, confidence, power, is_paired=is_paired)
    if isinstance(size, Unavailable):
        return size
    low, high = sd_ends(len(baseline) - 1 if is_paired else len(baseline) + len(candidate) - 2, confidence)
    return Interval(size * low, size * high, confidence, Method.CHI_SQUARE_OF_SD)


def spread_within(baseline: Values, candidate: Values, *, is_paired: bool = False) -> tuple[float, int] | Unavailable:
    """SD within two sides, pooled, or of the differences of pairs; and its degrees of freedom."""
    if is_paired:
        differences = differences_of(baseline, candidate)
        return differences if isinstance(differences, Unavailable) else (moments(differences).sd, len(differences) - 1)
    if reason := without_spread(2, baseline, candidate):
        return reason
    return pooled_sd(moments(baseline), moments(candidate)), len(baseline) + len(candidate) - 2


def detectable_effect(
    n_baseline: int, n_candidate: int, *, confidence: float = 0.95, power: float = POWER, is_paired: bool = False
) -> float:
    """Smallest true difference, in SDs, that both two-sided tests detect with this power.

    The tail on the far side is left out: it is below 1e-5 at 80 % power, and has no computable value for few runs.
    Infinite where no arrangement of so many runs has a p below the level.

    Args:
        is_paired: whether these are so many pairs; the SD is then that of their differences.

    Source: noncentral t with n_A + n_B - 2, or n - 1, degrees of freedom; `LOSS` for the permutation test.
    """
    loss = arrangement_loss(n_baseline, n_candidate, 1 - confidence, is_paired=is_paired)
    df, per_unit = n_baseline + n_candidate - 2, 1 / n_baseline + 1 / n_candidate
    if is_paired:
        df, per_unit = n_baseline - 1, 1 / n_baseline
    return loss * _noncentrality(df, confidence, power) * math.sqrt(per_unit)


def arrangement_loss(n_baseline: int, n_candidate: int, alpha: float, *, is_paired: bool = False) -> float:
    """Factor of the effect for the permutation test, from 1; 1 for fewer runs than a verdict takes, which ask no test.

    Source: `LOSS`, simulated.
    """
    if min(n_baseline, n_candidate) < (PAIRED_ALONE_RUNS if is_paired else VERDICT_RUNS):
        return 1.0
    if is_paired:
        log_least = math.log(2) * (1 - n_baseline)
    else:
        n = n_baseline + n_candidate
        log_ways = math.lgamma(n + 1) - math.lgamma(n_baseline + 1) - math.lgamma(n_candidate + 1)
        log_least = math.log(1 + (n_baseline == n_candidate)) - log_ways
    log_steps = math.log(alpha) - log_least
    if log_steps < 0:
        return math.inf
    steps, losses = zip(*LOSS, strict=True)
    return float(np.interp(log_steps, np.log(steps), losses))


@lru_cache(maxsize=1024)
def _noncentrality(df: int, confidence: float, power: float) -> float:
    """Noncentrality at which a two-sided t-test rejects on the near side with this power."""
    shift = noncentrality(t_quantile((1 + confidence) / 2, df), df, 1 - power)
    return math.inf if shift is None else shift


def runs_needed(
    difference: float,
    baseline: Values,
    candidate: Values,
    *,
    confidence: float = 0.95,
    power: float = POWER,
    is_paired: bool = False,
) -> int | Unavailable:
    """Runs of each variant, or pairs, that would see a true difference with this power, given the observed spread.

    Source: noncentral t, as `statsmodels.stats.power.TTestIndPower`.
    """
    spread = spread_within(baseline, candidate, is_paired=is_paired)
    if isinstance(spread, Unavailable):
        return spread
    effect = difference / spread[0]
    return fewest(lambda n: detectable_effect(n, n, confidence=confidence, power=power, is_paired=is_paired) <= effect)


def fewest(suffices: Callable[[int], bool], least: int = 2) -> int | Unavailable:
    """The smallest number of runs from `least` on that suffices, where more never suffice less."""
    if suffices(least):
        return least
    low, high = least, 2 * least
    while not suffices(high):
        low, high = high, 2 * high
        if high > MOST_RUNS:
            return Unavailable(Reason.A_MILLION)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
