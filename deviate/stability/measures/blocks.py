"""Blockwise computation on large arrays of runs: cache-sized, multi-threaded, in float64 whatever the stored type."""

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
Result = TypeVar("Result")

N_THREADS = 4
"""Maximum number of threads. NumPy releases the interpreter lock on large pieces; more threads wait for memory."""
PIECE_BYTES = 2**24
"""Bytes of a piece converted to float64 at once."""
WIDTH, DEPTH = 50, 100
"""Shape of the blocks in which large matrices are multiplied.

Products this small start no BLAS threads, which on shared machines wait for each other many times longer than they
work.
"""
IDENTICAL = 1 - 1e-12
"""Correlation above which runs may be bitwise identical."""


def on_threads(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """The results of the function for each item, in their order."""
    if len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(function, items))


def pieces(n: int, size: int) -> list[slice]:
    """The first `n` positions in slices of at most `size`, at least 1."""
    step = max(1, size)
    return [slice(begin, min(begin + step, n)) for begin in range(0, n, step)]


def finite_runs(outputs: npt.NDArray[Any]) -> Bools:
    """Which runs hold only finite numbers, (R,): the others diverged."""
    return np.fromiter((bool(np.isfinite(one).all()) for one in outputs), bool, len(outputs))


class Centred:
    """Runs of numbers in float64, each scaled, with the mean of each column subtracted.

    A constant column becomes exactly 0: its first number is subtracted before the mean, as the mean of equal numbers is
    not always that number. Runs are scaled by powers of two, which is exact, so that no square leaves the range of
    floats.

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
        """These examples of these runs, (R, C, n)."""
        block = np.array(self.runs[runs, examples].transpose(0, 2, 1), np.float64, order="C")
        block *= self.scales[runs]
        block -= self.firsts[runs]
        block -= self.means[runs]
        return block


def products(first: Matrix, second: Matrix) -> Matrix:
    """Products of all rows of one matrix with all rows of the other, on several threads; both may be the same."""
    n = first.shape[1]
    cut = n - n % DEPTH
    sums = np.zeros((len(first), len(second)))
    tiles = pieces(len(second), WIDTH)

    def fill(at: slice) -> None:
        # A copy, as a matrix times itself uses another BLAS routine, which starts threads. Allocated once.
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
    """Copy the upper triangle to the lower one, with a diagonal of 0."""
    upper = np.triu(matrix, 1)
    whole: Matrix = upper + upper.T
    return whole


def mark_identical(alike: Matrix, runs: npt.NDArray[Any]) -> None:
    """Set entries of equal runs to exactly 1, in place: sums round differently in every pair."""
    for i, j in np.argwhere(np.triu(alike > IDENTICAL, 1)):
        if np.array_equal(runs[i], runs[j]):
            alike[i, j] = alike[j, i] = 1.0


def among(usable: Bools, alike: Matrix) -> Matrix:
    """The matrix of all runs from that of the usable ones, NaN elsewhere."""
    whole = np.full((len(usable), len(usable)), np.nan)
    whole[np.ix_(usable, usable)] = alike
    return whole
