"""Examples on which runs disagree: how many, which ones most, and agreement with the majority."""

import numpy as np
from numpy.typing import NDArray

from deviate.model import CapturedSet, Measure, Unavailable, UnstableExample
from deviate.stability.measures.classified import Classified, Integers
from deviate.stability.measures.intervals import jackknife
from deviate.stats import SINGLE_RUN

Counts = NDArray[np.int32]
N_SHOWN = 20
N_AT_ONCE = 4096
"""Number of examples whose labels, of many runs, stay in a core's cache."""
NO_MAJORITY = Unavailable("of two runs each is as good as the majority")
GROWS = Unavailable("the share of unstable examples grows with the number of runs")


def majority_agreement(n_alike: Counts, confidence: float) -> Measure:
    """Share of examples for which a run predicts what most runs do, mean over runs; of a tie each counts as most.

    The interval leaves out one run after the other, from the majority too.

    Args:
        n_alike: as `alike` gives it.
    """
    n_runs, n_examples = n_alike.shape
    if n_runs < 2:
        return Measure("majority-agreement", SINGLE_RUN, SINGLE_RUN)
    if n_runs == 2:
        return Measure("majority-agreement", NO_MAJORITY, NO_MAJORITY)
    most = n_alike.max(axis=0)
    # A class with k votes is predicted by k runs.
    n_most, n_below = ((n_alike == n_votes).sum(axis=0) // np.maximum(n_votes, 1) for n_votes in (most, most - 1))
    # Without one of its runs, a class that alone had most votes ties with those that had one vote less; one
    # of several that had most is no longer among them.
    n_alike_without = np.where(n_most == 1, (most - 1) * (1 + n_below), most * (n_most - 1))
    value = float((most * n_most).sum() / (n_runs * n_examples))
    without = np.where(n_alike == most, n_alike_without, most * n_most).sum(axis=1) / ((n_runs - 1) * n_examples)
    return Measure("majority-agreement", value, jackknife(value, without.tolist(), confidence))


def alike(labels: Integers) -> Counts:
    """The number of runs, including itself, with the same prediction as each run, (R, N)."""
    n_alike = np.full(labels.shape, len(labels), dtype=np.int32)
    unstable = np.flatnonzero((labels != labels[0]).any(axis=0))
    for first in range(0, len(unstable), N_AT_ONCE):
        columns = unstable[first : first + N_AT_ONCE]
        part = np.ascontiguousarray(labels[:, columns])
        counts = np.ones(part.shape, dtype=np.int32)
        for run in range(len(part) - 1):
            is_same = part[run + 1 :] == part[run]
            counts[run] += np.count_nonzero(is_same, axis=0)
            counts[run + 1 :] += is_same
        n_alike[:, columns] = counts
    return n_alike


def unstable_share(labels: Integers) -> Measure:
    """Proportion of examples on which not all runs agree; it grows with the number of runs."""
    if len(labels) < 2:
        return Measure("unstable-examples", SINGLE_RUN, SINGLE_RUN)
    return Measure("unstable-examples", float((labels != labels[0]).any(axis=0).mean()), GROWS)


def flip_rates(n_alike: Counts) -> NDArray[np.float64]:
    """Proportion of pairs of runs that disagree on each example, (N,); its mean is the churn.

    Args:
        n_alike: as `alike` gives it, of two runs or more.
    """
    n_runs = len(n_alike)
    rates: NDArray[np.float64] = (n_runs**2 - n_alike.sum(axis=0)) / (n_runs * (n_runs - 1))
    return rates


def least_stable(captured: CapturedSet, classes: Classified, n_alike: Counts | None) -> tuple[UnstableExample, ...]:
    """The least stable examples: by proportion of disagreeing pairs, then in the order of the first run."""
    labels = classes.labels
    if labels is None or n_alike is None or len(labels) < 2:
        return ()
    rates = flip_rates(n_alike)
    order = np.lexsort((captured.positions, -rates))[:N_SHOWN]
    return tuple(
        UnstableExample(
            position=int(captured.positions[at]),
            truth=None if classes.truth is None else int(classes.truth[at]),
            flip_rate=float(rates[at]),
            votes=_votes(labels[:, at]),
        )
        for at in order
        if rates[at] > 0
    )


def _votes(predicted: Integers) -> tuple[tuple[int, int], ...]:
    classes, counts = np.unique(predicted, return_counts=True)
    pairs = zip(classes.tolist(), counts.tolist(), strict=True)
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
