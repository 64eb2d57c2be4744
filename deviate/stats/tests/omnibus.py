"""Tests of three or more experiments at once: whether their means or their scores differ at all."""

import numpy as np
from scipy import stats

from deviate.model import Reason, Test, Unavailable
from deviate.model.estimates import N_RESAMPLES
from deviate.stats.estimates.sample import (
    LARGEST,
    Summary,
    Values,
    count,
    is_constant,
    moments,
    never_zero,
    resolution,
    spread_refusal,
)
from deviate.stats.registry import statistic

RUNS_FOR_CHI_SQUARE = 10
"""With fewer runs in any experiment the chi-square law of Kruskal and Wallis rejects too seldom: 4 % in place of 5 % at
5 runs, 2 % with many ties (simulated); ranks are permuted then."""


def many_refusal(minimum: int, *samples: Values) -> Unavailable | None:
    """Why these samples cannot answer a question that needs `minimum` runs in each; None when they can."""
    if len(samples) < 2:
        return Unavailable(f"needs 2 experiments, has {len(samples)}")
    sizes = [len(values) for values in samples]
    if min(sizes) < minimum:
        return Unavailable(f"needs {count(minimum, 'run')} in each, one has {min(sizes)}")
    if not all(abs(value) <= LARGEST for values in samples for value in values):
        return Unavailable("NaN or infinite value among the scores")
    return None


def _without_spread(minimum: int, *samples: Values) -> Unavailable | None:
    return many_refusal(minimum, *samples) or spread_refusal(*samples)


@statistic(n_samples=None, minimum=2, shift="ignores", scale="ignores", refuse=_without_spread)
def anova(*samples: Values) -> Test | Unavailable:
    """One-way analysis of variance; equal variances are assumed.

    Source: Fisher (1925).
    """
    n, means, variances = _scale_sides([moments(values) for values in samples])
    grand = float(n @ means / n.sum())
    between, within = len(n) - 1, float(n.sum()) - len(n)
    f = float(n @ (means - grand) ** 2) / between / (float((n - 1) @ variances) / within)
    return _f_test("ANOVA F", f, between, within, "equal variances assumed")


@statistic(n_samples=None, minimum=2, shift="ignores", scale="ignores", refuse=_without_spread)
def welch_anova(*samples: Values) -> Test | Unavailable:
    """Welch's analysis of variance, for unequal variances; each experiment needs spread of its own.

    Source: Welch (1951).
    """
    finest = resolution([value for values in samples for value in values])
    flat = sum(max(values) - min(values) < finest for values in samples)
    if flat:
        return Unavailable(f"no spread in {flat} of {len(samples)}, so its mean would have no error")
    n, means, variances = _scale_sides([moments(values) for values in samples])
    weights = n / variances
    shares, k = weights / weights.sum(), len(n)
    error = float(((1 - shares) ** 2 / (n - 1)).sum()) / (k**2 - 1)
    f = float(weights @ (means - shares @ means) ** 2) / (k - 1) / (1 + 2 * (k - 2) * error)
    return _f_test("Welch F", f, k - 1, 1 / (3 * error))


@statistic(n_samples=None, minimum=4, shift="ignores", scale="ignores", draws=True, refuse=many_refusal)
def kruskal_wallis(*samples: Values, rng: np.random.Generator) -> Test | Unavailable:
    """Kruskal-Wallis test of stochastic equality, corrected for ties.

    By chi-square from 10 runs in each on; with fewer, ranks are permuted among all runs.
    Source: Kruskal & Wallis (1952).
    """
    pooled = np.concatenate([np.asarray(values, dtype=float) for values in samples])
    if is_constant(list(pooled)):
        return Unavailable.because(Reason.IDENTICAL)
    sizes = [len(values) for values in samples]
    ranks = stats.rankdata(pooled)
    tied = len(pooled) - int(np.sum(np.unique(pooled, return_counts=True)[1] == 1))
    h, notes = float(_between_ranks(ranks[None], sizes)[0]), [f"{tied} ties"] if tied else []
    if min(sizes) >= RUNS_FOR_CHI_SQUARE:
        p_value = float(stats.chi2.sf(h, len(samples) - 1))
        notes = ["chi-square", *notes]
    else:
        # Sorted first: which of equal generators permutes must not depend on the order of runs.
        # By argsort, which is five times faster than `rng.permuted` row by row.
        resampled = np.sort(ranks)[np.argsort(rng.random((N_RESAMPLES, len(ranks))), axis=1)]
        p_value = (1 + int(np.sum(_between_ranks(resampled, sizes) >= h * (1 - 1e-9)))) / (N_RESAMPLES + 1)
        notes = [f"permutation, {N_RESAMPLES} resamples", *notes]
    return Test("Kruskal-Wallis H", h, never_zero(p_value), len(samples) - 1, ", ".join(notes))


def _scale_sides(sides: list[Summary]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, means and variances in units of the largest SD: their squares are floats wherever the scores lie."""
    scale, origin = max(side.sd for side in sides), min(side.mean for side in sides)
    return (
        np.array([float(side.n) for side in sides]),
        np.array([(side.mean - origin) / scale for side in sides]),
        np.array([(side.sd / scale) ** 2 for side in sides]),
    )


def _f_test(name: str, f: float, between: float, within: float, note: str = "") -> Test:
    return Test(name, f, never_zero(float(stats.f.sf(f, between, within))), within, note, float(between))


def _between_ranks(ranks: np.ndarray, sizes: list[int]) -> np.ndarray:
    """H per row of ranks, shape (rows, runs), which lie one experiment after the other."""
    n = ranks.shape[1]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(ranks - (n + 1) / 2, starts, axis=1)
    total = float(np.sum((ranks[0] - (n + 1) / 2) ** 2))
    statistics: np.ndarray = (n - 1) * np.sum(sums**2 / np.asarray(sizes), axis=1) / total
    return statistics
