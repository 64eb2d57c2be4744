"""Examples of several runs beside each other: by their order where it is the same, else by a hash of their input."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deviate.model import Alignment
from deviate.stability.captures.outputs import left_out

SMALLEST_SHARE = 0.5
"""Of the examples of the first run, this much at least has to be in all runs: with less they saw different sets."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """What is known of the examples that one run saw, in its order.

    Attributes:
        keys: (n,) hash of each one's input, None where there is none. truth: (n, …), None where the run had none.
    """

    n: int
    keys: npt.NDArray[np.uint64] | None = None
    truth: npt.NDArray[np.generic] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """How the rows of each run are taken so that they are the same examples.

    Attributes:
        orders: per run (N,) its rows in the order of the first run; None where they are taken as they are.
        positions: (N,) rows of the first run, rising.
        notes: what was left out or taken for granted.
    """

    orders: tuple[npt.NDArray[np.intp] | None, ...]
    positions: npt.NDArray[np.intp]
    alignment: Alignment
    notes: tuple[str, ...] = ()


def align(runs: Sequence[Examples]) -> Aligned:
    """The way to the same examples in every run. Raises RecordError where there is none.

    Examples with the same input stand for one another in the order in which they came.
    """
    keys = [run.keys for run in runs if run.keys is not None]
    if len(keys) < len(runs):
        return _by_position(runs, "no run tells its inputs apart" if not keys else "not all runs tell inputs apart")
    if all(np.array_equal(run_keys, keys[0]) for run_keys in keys[1:]):
        return _as_they_are(runs)
    alignment = _by_keys(keys, [run.truth for run in runs])
    n_common, n_first = len(alignment[0]), runs[0].n
    if n_common < SMALLEST_SHARE * max(run.n for run in runs):
        if _have_the_same_truth(runs):
            return _as_they_are(
                runs, "Inputs differ between runs; true labels come in the same order, and so do examples."
            )
        raise left_out(
            f"runs have only {n_common} of {n_first} examples in common: their inputs differ, or the sets do"
        )
    order = np.argsort(alignment[0], kind="stable")
    notes = []
    if any(n_common < run.n for run in runs):
        most = max(run.n for run in runs)
        notes.append(f"{n_common} of {most} examples are in all runs; the others are left out.")
    return Aligned(tuple(rows[order] for rows in alignment), alignment[0][order], "input", tuple(notes))


def _as_they_are(runs: Sequence[Examples], *notes: str) -> Aligned:
    return Aligned((None,) * len(runs), np.arange(runs[0].n), "position", notes)


def _by_position(runs: Sequence[Examples], why: str) -> Aligned:
    numbers = sorted({run.n for run in runs})
    if len(numbers) > 1:
        raise left_out(f"runs have {numbers[0]} to {numbers[-1]} examples, and {why}")
    if len(runs) == 1:
        return _as_they_are(runs)
    truths = [run.truth for run in runs if run.truth is not None]
    if any(not _is_same(truth, truths[0]) for truth in truths[1:]):
        raise left_out(f"true labels come in another order from run to run, and {why}")
    if len(truths) == len(runs):
        return _as_they_are(runs, f"Examples are taken to come in one order, as true labels do: {why}.")
    return _as_they_are(runs, f"Examples are taken to come in one order in all runs: {why}.")


def _by_keys(
    keys: Sequence[npt.NDArray[np.uint64]], truths: Sequence[npt.NDArray[np.generic] | None]
) -> list[npt.NDArray[np.intp]]:
    """Rows of each run that have a partner in all others, sorted by key, and by true label where that is one number."""
    all_keys, key_numbers = np.unique(np.concatenate(keys), return_inverse=True)
    numbers_of_runs = np.split(key_numbers, np.cumsum([len(run_keys) for run_keys in keys])[:-1])
    counts = np.min([np.bincount(numbers, minlength=len(all_keys)) for numbers in numbers_of_runs], axis=0)
    orders = []
    for numbers, truth in zip(numbers_of_runs, truths, strict=True):
        labels = [truth] if truth is not None and truth.shape == numbers.shape else []
        rows = np.lexsort((*labels, numbers))
        nth = np.arange(len(rows)) - np.searchsorted(numbers[rows], numbers[rows])
        orders.append(rows[nth < counts[numbers[rows]]])
    return orders


def _have_the_same_truth(runs: Sequence[Examples]) -> bool:
    """Whether true labels, of several classes, come in the same order: a set that was shuffled would show."""
    first = runs[0].truth
    if first is None or first.ndim != 1 or len(np.unique(first)) < 2:
        return False
    return all(run.truth is not None and _is_same(run.truth, first) for run in runs[1:])


def _is_same(one: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> bool:
    return one.shape == other.shape and bool(np.all((one == other) | ((one != one) & (other != other))))  # noqa: PLR0124
