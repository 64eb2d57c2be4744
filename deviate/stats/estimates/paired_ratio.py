"""Ratio of the spreads of two scores of the same runs, such as of a sub-group and of all examples."""

import math

import numpy as np

from deviate.model import Interval, Unavailable
from deviate.stats.estimates.bca import Column, bca_ends, influence
from deviate.stats.estimates.bootstrap import BCA, BCA_RUNS, MOST_RUNS, Draws, Resamples, Source
from deviate.stats.estimates.sample import Values, moments, ratio_refusal, refusal
from deviate.stats.registry import statistic

NO_SPREAD = 1e-20
"""Variance, in units of the squared largest deviation, that is only rounding of equal values."""


@statistic(n_samples=2, minimum=BCA_RUNS, shift="ignores", scale="ignores", draws=True, is_paired=True)
def paired_sd_ratio_bootstrap(
    baseline: Values, candidate: Values, *, rng: Source, confidence: float = 0.95
) -> Interval | Unavailable:
    """BCa bootstrap interval of the SD ratio, candidate over baseline, of two scores of the same runs in one order.

    Runs are drawn with both of their scores: the F interval is for two sets of runs. Bias and acceleration are those of
    the log ratio.
    Source: Efron (1987); acceleration from the jackknife over runs.
    """
    if len(baseline) != len(candidate):
        return Unavailable(f"no pairs: {len(baseline)} and {len(candidate)} runs")
    if reason := refusal(BCA_RUNS, baseline) or refusal(BCA_RUNS, candidate) or ratio_refusal(baseline, candidate):
        return reason
    if len(baseline) > MOST_RUNS:
        return Unavailable(f"not resampled beyond {MOST_RUNS} runs")
    resamples = rng if isinstance(rng, Resamples) else Resamples(rng)
    draws = resamples.draws(len(baseline))
    # Sorted, as the order of runs must not change the draws.
    order = np.lexsort((np.asarray(candidate, dtype=float), np.asarray(baseline, dtype=float)))
    (b, scale_b), (a, scale_a) = (_units(np.asarray(values, dtype=float)[order]) for values in (baseline, candidate))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(_sds(a, draws)) - np.log(_sds(b, draws))
        without = np.log(_sds_without(a)) - np.log(_sds_without(b))
    estimate = math.log(moments(a.tolist()).sd / moments(b.tolist()).sd)
    ends = bca_ends(estimate, logs, [influence(without)], confidence)
    if isinstance(ends, Unavailable):
        return ends
    unit = scale_a / scale_b
    return Interval(unit * math.exp(ends[0]), unit * math.exp(ends[1]), confidence, BCA)


def _units(values: Column) -> tuple[Column, float]:
    """Deviations from the mean in units of the largest, and the largest."""
    deviations = values - moments(values.tolist()).mean
    scale = float(np.abs(deviations).max())
    return deviations / scale, scale


def _sds(units: Column, draws: Draws) -> Column:
    n = len(units)
    means = np.einsum("ij,j->i", draws.counts, units) / n
    variances = np.einsum("ij,j->i", draws.counts, units**2) / n - means**2
    close = np.flatnonzero(variances < 1e-6)  # the difference has no digits left
    variances[close] = (draws.counts[close] * (units - means[close, None]) ** 2).sum(axis=1) / n
    sds: Column = np.sqrt(np.where(variances > NO_SPREAD, variances, 0.0) * n / (n - 1))
    return sds


def _sds_without(units: Column) -> Column:
    return np.array([np.std(np.delete(units, run), ddof=1) for run in range(len(units))])
