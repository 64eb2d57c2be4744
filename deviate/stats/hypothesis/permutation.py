"""Permutations: runs exchanged between the sides, or signs of differences exchanged, all of them or a sample.

The arrangements depend on the numbers of runs alone, so that no p depends on the analysis seed.
"""

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deviate.model.estimates import N_RESAMPLES
from deviate.model.phrases import Note

MOST_ARRANGEMENTS = 200_000
"""Maximum number of arrangements that are all tried; 10 runs of each have 184,756."""
CELLS = 4_000_000
"""Number of matrix entries that are processed at once."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.bool_]


def exchange_p(values: Vector, n_candidate: int, *, rounding: float) -> tuple[float, bool]:
    """Two-sided p of the sum of the first `n_candidate` values when sides are exchanged, and whether it is exact.

    Args:
        rounding: sums that differ by less are equal.
    """
    n_baseline = len(values) - n_candidate
    rows, is_exact = arrangements(n_candidate, n_baseline)
    observed = float(values[:n_candidate].sum())
    pooled = np.sort(values)  # so that a sample of arrangements gives the same p whatever the order of runs
    sums = sums_of(rows, pooled)
    if is_exact and n_candidate == n_baseline:
        sums = np.concatenate([sums, pooled.sum() - sums])
    return _two_sided(sums, observed, rounding, is_exact=is_exact), is_exact


def sign_flip_p(values: Vector, *, rounding: float) -> tuple[float, bool]:
    """Two-sided p of the sum of the values when each may change its sign, and whether it is exact.

    Args:
        rounding: sums that differ by less are equal.
    """
    rows, is_exact = flips(len(values))
    values = np.sort(values)  # so that the order of pairs changes no sampled p
    total = float(values.sum())
    sums = 2 * sums_of(rows, values) - total
    if is_exact:
        sums = np.concatenate([sums, -sums])
    return _two_sided(sums, total, rounding, is_exact=is_exact), is_exact


def how(*, is_exact: bool, n_resamples: int = N_RESAMPLES) -> str:
    """The note on arrangements that were all tried, or of which so many were drawn."""
    return Note.EXACT_PERMUTATION if is_exact else Note.PERMUTATION(n_resamples)


def _two_sided(sums: Vector, observed: float, rounding: float, *, is_exact: bool) -> float:
    """Twice the smaller tail, as `scipy.stats.permutation_test`; a sample counts what was observed as one of it.

    Source: Phipson & Smyth (2010).
    """
    extra = 0 if is_exact else 1
    beyond = min(int((sums >= observed - rounding).sum()), int((sums <= observed + rounding).sum()))
    return min(1.0, 2 * (beyond + extra) / (len(sums) + extra))


def arrangements(n_candidate: int, n_baseline: int, n_resamples: int = N_RESAMPLES) -> tuple[Matrix, bool]:
    """Assignments of runs to two sides, one per row, True for a run of the candidate; and whether these are all.

    With as many runs on both sides each row stands for its mirror image too.
    """
    n = n_candidate + n_baseline
    if math.comb(n, n_candidate) <= MOST_ARRANGEMENTS:
        return _all_arrangements(n_candidate, n_baseline), True
    return _some_arrangements(n_candidate, n_baseline, n_resamples), False


def flips(n: int, n_resamples: int = N_RESAMPLES) -> tuple[Matrix, bool]:
    """Signs of differences, one arrangement per row, True for the observed sign; each stands for its mirror image."""
    if 2**n <= MOST_ARRANGEMENTS:
        return _all_flips(n), True
    return _some_flips(n, n_resamples), False


@lru_cache(maxsize=16)
def _all_arrangements(n_candidate: int, n_baseline: int) -> Matrix:
    n = n_candidate + n_baseline
    if n_candidate == n_baseline:
        rows = np.ones((math.comb(n - 1, n_candidate - 1), n), dtype=np.bool_)
        rows[:, 1:] = combinations(n - 1, n_candidate - 1)
        return rows
    return combinations(n, n_candidate)


@lru_cache(maxsize=16)
def _some_arrangements(n_candidate: int, n_baseline: int, n_resamples: int) -> Matrix:
    draws = np.random.default_rng([n_candidate, n_baseline, n_resamples])
    rows = np.zeros((n_resamples, n_candidate + n_baseline), dtype=np.bool_)
    for part in parts(rows):
        order = np.argpartition(draws.random(part.shape, dtype=np.float32), n_candidate - 1, axis=1)
        np.put_along_axis(part, order[:, :n_candidate], values=True, axis=1)
    return rows


@lru_cache(maxsize=16)
def _all_flips(n: int) -> Matrix:
    rows = np.ones((2 ** (n - 1), n), dtype=np.bool_)
    rows[:, 1:] = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)) & 1
    return rows


@lru_cache(maxsize=16)
def _some_flips(n: int, n_resamples: int) -> Matrix:
    draws = np.random.default_rng([n, n_resamples])
    return draws.integers(0, 2, size=(n_resamples, n), dtype=np.uint8).astype(np.bool_)


@lru_cache(maxsize=8)
def combinations(n: int, k: int) -> Matrix:
    """All ways to choose k of n, a row each: chosen places one after the other, the last one in steps of 1."""
    places = np.arange(n - k + 1, dtype=np.int16)[:, None]
    for size in range(1, k):
        last = places[:, -1].astype(np.int64)
        n_next = n - k + size - last
        which = np.repeat(np.arange(len(places)), n_next)
        following = last[which] + 1 + np.arange(len(which)) - np.repeat(np.cumsum(n_next) - n_next, n_next)
        places = np.concatenate([places[which], following[:, None].astype(np.int16)], axis=1)
    rows = np.zeros((len(places), n), dtype=np.bool_)
    np.put_along_axis(rows, places.astype(np.int64), values=True, axis=1)
    return rows


def sums_of(rows: Matrix, values: Vector) -> Vector:
    """Sums of the values that each row has."""
    return np.concatenate([products(part.astype(np.float64), values[None, :])[:, 0] for part in parts(rows)])


def products(ways: Vector, values: Vector) -> Vector:
    """Sums that each arrangement makes of each comparison, (ways, comparisons).

    For one comparison without BLAS, whose threads take longer to start and wait than the product itself.
    """
    if len(values) == 1:
        return np.asarray(np.einsum("ij,j->i", ways, values[0])[:, None])
    return np.asarray(ways @ values.T)


def parts(rows: Matrix) -> Iterator[Matrix]:
    """A matrix by some rows at a time: bounds the memory of what is computed from it."""
    n_rows = max(1, CELLS // max(1, rows.shape[1]))
    return (rows[start : start + n_rows] for start in range(0, len(rows), n_rows))
