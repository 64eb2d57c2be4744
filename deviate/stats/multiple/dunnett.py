"""Dunnett's comparisons: several candidates against one baseline, with simultaneous intervals.

All of them share the baseline and one variance, so their t statistics follow a multivariate t whose correlations are
products. That makes its probability a double integral, which Gauss-Legendre quadrature gives to about ten digits
without a random number; `scipy.stats.dunnett` samples it, to about four digits and fifty times slower.
"""

import math
from functools import lru_cache

import numpy as np
from scipy import optimize, special, stats

from deviate.model import Interval, Test, Unavailable
from deviate.model.minimum import VERDICT_RUNS
from deviate.stats.estimates.sample import Values, moments, never_zero, spread_refusal
from deviate.stats.tests.omnibus import many_refusal

FARTHEST = 9.0
"""In SDs: the probability of a normal variable beyond is below the rounding of floats."""


def dunnett(baseline: Values, *candidates: Values) -> tuple[Test, ...] | Unavailable:
    """Each candidate's mean against the baseline's; p-values hold for all of them together. Equal variances assumed.

    Source: Dunnett (1955); statistic and p as in `scipy.stats.dunnett`.
    """
    if reason := many_refusal(VERDICT_RUNS, baseline, *candidates) or spread_refusal(baseline, *candidates):
        return reason
    sizes, df, errors = _errors(baseline, *candidates)
    origin = moments(baseline).mean
    statistics = [(moments(values).mean - origin) / error for values, error in zip(candidates, errors, strict=True)]
    note = f"equal variances assumed, family of {len(candidates)}"
    return tuple(Test("Dunnett t", t, _p_value(abs(t), sizes, df), df, note) for t in statistics)


def dunnett_intervals(
    baseline: Values, *candidates: Values, confidence: float = 0.95
) -> tuple[Interval, ...] | Unavailable:
    """Intervals of the differences of means, candidate minus baseline, that cover all of them together.

    Source: Dunnett (1955).
    """
    if reason := many_refusal(VERDICT_RUNS, baseline, *candidates) or spread_refusal(baseline, *candidates):
        return reason
    sizes, _, errors = _errors(baseline, *candidates)
    origin, critical = moments(baseline).mean, dunnett_critical(sizes, confidence)
    differences = [moments(values).mean - origin for values in candidates]
    return tuple(
        Interval(difference - critical * error, difference + critical * error, confidence, "Dunnett, simultaneous")
        for difference, error in zip(differences, errors, strict=True)
    )


@lru_cache(maxsize=256)
def dunnett_critical(sizes: tuple[int, ...], confidence: float = 0.95) -> float:
    """Two-sided critical value of t for these numbers of runs, the baseline's first.

    >>> round(dunnett_critical((16, 16, 16)), 2)
    2.28

    Source: Dunnett (1964), table of two-sided comparisons.
    """
    df = sum(sizes) - len(sizes)
    n_candidates = len(sizes) - 1
    low = float(stats.t.ppf((1 + confidence) / 2, df))
    if n_candidates == 1:
        return low
    high = float(stats.t.isf((1 - confidence) / (2 * n_candidates), df))
    return float(optimize.brentq(lambda c: _inside(c, sizes, df) - confidence, low, high, xtol=1e-10))


def _p_value(t: float, sizes: tuple[int, ...], df: int) -> float:
    """P(largest |t| > t), kept between that of one comparison alone and the sum over all of them."""
    alone = 2 * float(stats.t.sf(t, df))
    n_candidates = len(sizes) - 1
    if n_candidates == 1:
        return never_zero(alone)
    return never_zero(min(n_candidates * alone, max(alone, 1 - _inside(t, sizes, df))))


def _inside(c: float, sizes: tuple[int, ...], df: int) -> float:
    """P(all |t| <= c): given the common variance and the baseline's mean the comparisons are independent."""
    loadings = np.array([math.sqrt(n / (n + sizes[0])) for n in sizes[1:]])
    residuals = np.sqrt(1 - loadings**2)
    # A candidate with far more runs than the baseline has a narrow kernel, which needs closer nodes.
    z, z_weights = _nodes(0.0, FARTHEST, min(2000, math.ceil(48 / float(residuals.min()))))
    s, s_weights = _spreads(df)
    inside = np.ones((len(s), len(z)))
    kinds, repeats = np.unique(loadings, return_counts=True)
    for loading, times in zip(kinds, repeats, strict=True):
        width = math.sqrt(1 - loading**2)
        high = (c * s[:, None] - loading * z) / width
        low = (-c * s[:, None] - loading * z) / width
        inside *= (special.ndtr(high) - special.ndtr(low)) ** times
    return float(s_weights @ inside @ (z_weights * 2 * stats.norm.pdf(z)))


@lru_cache(maxsize=64)
def _spreads(df: int) -> tuple[np.ndarray, np.ndarray]:
    """Quadrature nodes and weights for the pooled SD over the true one, which is chi over the root of its df."""
    low, high = (math.sqrt(float(q) / df) for q in (stats.chi2.ppf(1e-16, df), stats.chi2.isf(1e-16, df)))
    s, weights = _nodes(low, high, 48)
    return s, weights * 2 * s * df * stats.chi2.pdf(df * s**2, df)


def _nodes(low: float, high: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = _legendre(n)
    half = (high - low) / 2
    return low + half * (nodes + 1), half * weights


@lru_cache(maxsize=64)
def _legendre(n: int) -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = special.roots_legendre(n)
    return nodes, weights


def _errors(baseline: Values, *candidates: Values) -> tuple[tuple[int, ...], int, list[float]]:
    """Numbers of runs, degrees of freedom, and the standard error of each difference from the pooled SD."""
    sides = [moments(values) for values in (baseline, *candidates)]
    df = sum(side.n for side in sides) - len(sides)
    pooled = math.hypot(*sorted(side.sd * math.sqrt((side.n - 1) / df) for side in sides))
    errors = [pooled * math.sqrt(1 / side.n + 1 / sides[0].n) for side in sides[1:]]
    return tuple(side.n for side in sides), df, errors
