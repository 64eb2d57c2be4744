"""Ends of bootstrap intervals from a distribution of resampled estimates."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deviate.model import Unavailable

Column = NDArray[np.float64]


def bca_ends(
    estimate: float, resampled: Column, influences: Sequence[Column], confidence: float
) -> tuple[float, float] | Unavailable:
    """Ends of the bias-corrected and accelerated interval.

    Args:
        resampled: the estimate in each resample; infinite ones stand at the ends of their distribution.
        influences: `influence` of each run of each sample.

    Source: Efron (1987); several samples as in `scipy.stats.bootstrap`.
    """
    if np.isnan(resampled).any():
        return Unavailable("resamples without spread in both")
    tolerance = 1e-12 * max(1.0, abs(estimate))
    below = np.count_nonzero(resampled < estimate - tolerance)
    at_most = np.count_nonzero(resampled <= estimate + tolerance)
    bias = float(special.ndtri((below + at_most) / (2 * len(resampled))))
    largest = float(np.abs(np.concatenate(influences)).max())
    if not (math.isfinite(bias) and 0 < largest < math.inf):
        return Unavailable("the spread hangs on a single run")
    cubes, squares = (  # in units of the largest, as cubes of large influences overflow
        sum(float(((part / largest) ** power).sum()) / len(part) ** power for part in influences) for power in (3, 2)
    )
    acceleration = cubes / squares**1.5 / 6
    tails = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = bias + float(special.ndtri(tail))
        if acceleration * z >= 1:
            return Unavailable("the spread hangs on a single run")
        tails.append(float(special.ndtr(bias + z / (1 - acceleration * z))))
    return _quantiles(resampled, tails)


def percentile_ends(resampled: Column, confidence: float) -> tuple[float, float] | Unavailable:
    """Ends of the percentile interval.

    Source: Efron (1979).
    """
    return _quantiles(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])


def _quantiles(resampled: Column, tails: Sequence[float]) -> tuple[float, float] | Unavailable:
    with np.errstate(invalid="ignore"):  # between a number and infinity
        low, high = (float(end) for end in np.quantile(resampled, tails))
    if not (math.isfinite(low) and math.isfinite(high)):
        return Unavailable("too many resamples without spread")
    return (low, high) if low < high else Unavailable("resamples all alike")


def influence(without: Column) -> Column:
    """Jackknife influence of each run, from the estimates without it."""
    with np.errstate(invalid="ignore"):  # the caller refuses infinite estimates
        by_run: Column = (len(without) - 1) * (without.mean() - without)
    return by_run
