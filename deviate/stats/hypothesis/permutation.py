"""Permutations: runs exchanged between the sides, or signs of differences exchanged, all of them or a sample."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deviate.model.estimates import N_RESAMPLES

NORMAL = "normal approximation, continuity corrected"
"""Method of a rank test of so many runs that its exact distribution is not computed."""
_CELLS = 4_000_000
"""Number of matrix entries that are processed at once."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.bool_]


def exchange_p(values: Vector, n_candidate: int, *, rng: np.random.Generator, rounding: float) -> tuple[float, bool]:
    """Two-sided p of the sum of the first `n_candidate` values when sides are exchanged, and whether it is exact.

    All arrangements where there are at most 9999 of them, else a sample with the observed one counted among them.

    Args:
        rng: gives one number, which seeds the arrangements: equal generators share them, whatever the values.
        rounding: sums that differ by less are equal.
    """
    rows, is_exact = arrangements(n_candidate, len(values) - n_candidate, rng=rng)
    observed = float(values[:n_candidate].sum())
    pooled = np.sort(values)  # so that a sample of arrangements gives the same p whatever the order of runs
    sums = np.concatenate([part.astype(np.float64) @ pooled for part in parts(rows)])
    return _two_sided(sums, observed, rounding, is_exact=is_exact), is_exact


def arrangements(n_candidate: int, n_baseline: int, *, rng: np.random.Generator) -> tuple[Matrix, bool]:
    """Ways to deal runs to two sides, and whether these are all: a row each, True for a run of the candidate.

    All of them where there are at most 9999, else as many drawn at random.

    Args:
        rng: gives one number, which seeds them: equal generators share them.
    """
    seed = int(rng.integers(2**63))
    if math.comb(n_candidate + n_baseline, n_candidate) <= N_RESAMPLES:
        return combinations(n_candidate + n_baseline, n_candidate), True
    return _arrangements(n_candidate, n_baseline, seed), False


def sign_flip_p(values: Vector, *, rng: np.random.Generator, rounding: float) -> tuple[float, bool]:
    """Two-sided p of the sum of the values when each may change its sign, and whether it is exact.

    Args:
        rng: gives one number, as for `exchange_p`.
        rounding: sums that differ by less are equal.
    """
    n = len(values)
    is_exact = 2**n <= N_RESAMPLES
    seed = int(rng.integers(2**63))
    rows = _every_flip(n) if is_exact else _flips(n, seed)
    values = np.sort(values)  # so that the order of pairs changes no sampled p
    total = float(values.sum())
    sums = np.concatenate([2 * (part.astype(np.float64) @ values) - total for part in parts(rows)])
    return _two_sided(sums, total, rounding, is_exact=is_exact), is_exact


def how(*, is_exact: bool) -> str:
    """What a report says of it."""
    return "exact permutation" if is_exact else f"permutation, {N_RESAMPLES} resamples"


def _two_sided(sums: Vector, observed: float, rounding: float, *, is_exact: bool) -> float:
    """Twice the smaller tail, as `scipy.stats.permutation_test`; a sample counts what was observed as one of it.

    Source: Phipson & Smyth (2010).
    """
    extra = 0 if is_exact else 1
    beyond = min(int((sums >= observed - rounding).sum()), int((sums <= observed + rounding).sum()))
    return min(1.0, 2 * (beyond + extra) / (len(sums) + extra))


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


@lru_cache(maxsize=4)
def _arrangements(n_candidate: int, n_baseline: int, seed: int) -> Matrix:
    """They cost most of such a test, so they are kept."""
    draws = np.random.default_rng(seed)
    return deal_runs(N_RESAMPLES, n_candidate, n_baseline, draws.random)


def deal_runs(
    n_rows: int, n_candidate: int, n_baseline: int, draw: Callable[[tuple[int, ...]], NDArray[np.floating]]
) -> Matrix:
    """Random rows with as many True as the candidate has runs, by the order of numbers that are drawn."""
    rows = np.zeros((n_rows, n_candidate + n_baseline), dtype=np.bool_)
    for part in parts(rows):
        order = np.argpartition(draw(part.shape), n_candidate - 1, axis=1)
        np.put_along_axis(part, order[:, :n_candidate], values=True, axis=1)
    return rows


@lru_cache(maxsize=4)
def _every_flip(n: int) -> Matrix:
    return np.array(list(itertools.product([False, True], repeat=n)), dtype=np.bool_).reshape(-1, n)


@lru_cache(maxsize=4)
def _flips(n: int, seed: int) -> Matrix:
    """Random rows of signs, True for the sign that was observed."""
    return np.random.default_rng(seed).integers(0, 2, size=(N_RESAMPLES, n), dtype=np.uint8).astype(np.bool_)


def parts(rows: Matrix) -> Iterator[Matrix]:
    """A matrix by some rows at a time: bounds the memory of what is computed from it."""
    n_rows = max(1, _CELLS // max(1, rows.shape[1]))
    return (rows[start : start + n_rows] for start in range(0, len(rows), n_rows))
