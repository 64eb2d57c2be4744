"""How large the largest SD, or range, of many classes is on average: by chance, and by the spread each may have."""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
N_POINTS = 4001
LEFT_OUT = 1e-13
"""Probability outside the grid of a distribution."""


def mean_largest_sd(spreads: Sequence[float], n: int) -> float:
    """Mean of the largest of independent SDs (ddof 1) of n normal values each, whose true SDs are `spreads`.

    Source: integral of 1 - prod F(x / sigma), F that of chi over the root of its n - 1 degrees of freedom.

    >>> round(mean_largest_sd([1.0], 10), 3), round(mean_largest_sd([1.0] * 10, 10), 3)
    (0.973, 1.346)
    """
    df = n - 1
    grid = np.linspace(0.0, float(np.sqrt(special.chdtri(df, LEFT_OUT) / df)), N_POINTS)
    return _mean_largest(spreads, grid, special.chdtr(df, df * grid**2))


def mean_largest_range(spreads: Sequence[float], n: int) -> float:
    """Mean of the largest of independent ranges of n normal values each, whose true SDs are `spreads`.

    Source: integral of 1 - prod F(x / sigma), F that of the range of n values, Tippett (1925).

    >>> round(mean_largest_range([1.0], 8), 4), round(mean_largest_range([2.0], 16), 4)
    (2.8472, 7.064)
    """
    grid = np.linspace(0.0, 2 * float(special.ndtri(1 - LEFT_OUT)) + 2, N_POINTS)
    return _mean_largest(spreads, grid, _range_below(grid, n))


def _range_below(widths: Floats, n: int) -> Floats:
    """Probability that the range of n standard normal values is at most this wide."""
    lowest = np.linspace(-9.0, 9.0, 601)
    inside = special.ndtr(lowest + widths[:, None]) - special.ndtr(lowest)
    density = np.exp(-(lowest**2) / 2) / np.sqrt(2 * np.pi)
    below: Floats = np.clip(n * scipy.integrate.simpson(density * inside ** (n - 1), x=lowest, axis=1), 0.0, 1.0)
    return below


def _mean_largest(spreads: Sequence[float], grid: Floats, below: Floats) -> float:
    """Integral of 1 minus the probability that all are below, each with this distribution in units of its spread.

    Integrated over the grid points, so that nothing is interpolated for the classes of the largest spread.
    """
    largest = max(spreads)
    logs = np.zeros_like(grid)
    with np.errstate(divide="ignore"):
        at = np.log(below)
    for spread, times in zip(*np.unique(spreads, return_counts=True), strict=True):
        with np.errstate(invalid="ignore"):  # between two logarithms of 0
            density = np.interp(grid * (largest / spread), grid, at, right=0.0)
        logs += times * np.where(np.isnan(density), -np.inf, density)
    return largest * float(scipy.integrate.simpson(1.0 - np.exp(logs), x=grid))
