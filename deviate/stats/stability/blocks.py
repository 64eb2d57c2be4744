"""Large arrays of runs, piece by piece: what fits a cache, on several threads, in float64 whatever they are kept in."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Floats = npt.NDArray[np.floating[Any]]
Labels = npt.NDArray[np.integer[Any]]
Bools = npt.NDArray[np.bool_]
Item = TypeVar("Item")
Found = TypeVar("Found")

N_THREADS = 4
"""NumPy works on large pieces without the interpreter's lock. More threads than this wait for memory and each other."""
PIECE_BYTES = 2**24
"""Of what is taken to float64 at once."""
WIDTH, DEPTH = 50, 100
"""Of the small matrices that large ones are multiplied in. Products as small as these start no threads of the library
that makes them, which on shared machines wait for each other many times longer than they work."""
IDENTICAL = 1 - 1e-12
"""Alike above this may be bitwise identical."""


def on_threads(function: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
    """What the function gives for each item, in their order."""
    if len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(function, items))


def pieces(n: int, size: int) -> list[slice]:
    """The first `n` positions in slices of at most `size`, at least 1."""
    step = max(1, size)
    return [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]


def finite_runs(outputs: npt.NDArray[Any]) -> Bools:
    """Which runs hold finite numbers alone, (R,): others diverged."""
    return np.fromiter((bool(np.isfinite(one).all()) for one in outputs), bool, len(outputs))


class Centred:
    """Runs of numbers, each run scaled, each of its columns less its mean, in float64.

    A column that is constant becomes exactly 0: its first number is taken off before the mean of what is left, for
    the mean of equal numbers is not always that number. Runs are scaled by powers of two, which loses no bit, so that
    no square leaves the range of floats.

    Args:
        runs: (R, N, C), finite.
    """

    def __init__(self, runs: npt.NDArray[Any]) -> None:
        self.runs = runs
        n_runs, self.n, n_columns = runs.shape
        largest = [max(float(one.max(initial=0)), -float(one.min(initial=0))) for one in runs]
        exponents = np.clip(-np.frexp(np.array(largest, dtype=np.float64))[1], -1022, 1022)
        self.scales = np.ldexp(1.0, exponents)[:, None, None]
        self.firsts = runs[:, :1].transpose(0, 2, 1).astype(np.float64) * self.scales
        self.means = np.zeros((n_runs, n_columns, 1))
        size = PIECE_BYTES // max(1, 8 * n_runs * n_columns)
        parts = [self.piece(piece).sum(axis=2, keepdims=True) for piece in pieces(self.n, size)]
        self.means = sum(parts, start=self.means) / max(1, self.n)

    def piece(self, examples: slice, runs: slice = slice(None)) -> Matrix:
        """Those examples of those runs, (R, C, n)."""
        block = np.array(self.runs[runs, examples].transpose(0, 2, 1), np.float64, order="C")
        block *= self.scales[runs]
        block -= self.firsts[runs]
        block -= self.means[runs]
        return block


def products(first: Matrix, second: Matrix) -> Matrix:
    """All products of rows of the one with rows of the other, which may be itself, over several threads."""
    n = first.shape[1]
    cut = n - n % DEPTH
    sums = np.zeros((len(first), len(second)))
    tiles = pieces(len(second), WIDTH)

    def fill(at: slice) -> None:
        # A copy, for a matrix times itself is made in another way, which starts threads. Memory is asked for once.
        rows = first[at].copy()
        deep = rows[:, :cut].reshape(len(rows), -1, DEPTH).transpose(1, 0, 2)
        room = np.empty(len(deep) * len(rows) * WIDTH)
        for to in tiles:
            if second is first and to.start < at.start:
                continue
            columns = second[to].T
            width = columns.shape[1]
            parts = room[: len(deep) * len(rows) * width].reshape(len(deep), len(rows), width)
            np.matmul(deep, columns[:cut].reshape(-1, DEPTH, width), out=parts)
            sums[at, to] = parts.sum(axis=0) + rows[:, cut:] @ columns[cut:]
            if second is first:
                sums[to, at] = sums[at, to].T

    on_threads(fill, pieces(len(first), WIDTH))
    return sums


def mirror(matrix: Matrix) -> Matrix:
    """The upper triangle on both sides of a diagonal of 0."""
    upper = np.triu(matrix, 1)
    whole: Matrix = upper + upper.T
    return whole


def mark_identical(alike: Matrix, runs: npt.NDArray[Any]) -> None:
    """Set exactly 1, in place, where two runs are equal number by number: a sum may round otherwise in every pair."""
    for i, j in np.argwhere(np.triu(alike > IDENTICAL, 1)):
        if np.array_equal(runs[i], runs[j]):
            alike[i, j] = alike[j, i] = 1.0


def among(usable: Bools, alike: Matrix) -> Matrix:
    """The matrix of all runs from that of the usable ones, NaN elsewhere."""
    whole = np.full((len(usable), len(usable)), np.nan)
    whole[np.ix_(usable, usable)] = alike
    return whole
