"""Reduction of variability by averaging a run's own outputs, over snapshots or augmented copies of its input."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deviate.model import CapturedSet, Estimate, Interval, Measure, Reduction, Unavailable
from deviate.model.minimum import VERDICT_RUNS
from deviate.stability.measures.classified import Measured, classify, measure_all, variability
from deviate.stability.measures.intervals import jackknife, over_pairs, sd_measure
from deviate.stats import count, variability_reduction

COPIES = {
    "flip": 1,
    "crop25": 25,
    "crop81": 81,
    "flip_crop25": 50,
    "flip_crop81": 162,
    "crop_mnist": 9,
    "flip_crop_mnist": 18,
    "crop_imagenet": 9,
    "flip_crop_imagenet": 18,
}
"""Augmented copies per image; the original is averaged with them. Source: code of Summers & Dinneen (2021), but for
flipped crops by one pixel."""
N_SNAPSHOTS = 5
"""Number of last outputs of a run that a snapshot ensemble averages. Source: Summers & Dinneen (2021): 5 cycles."""


def reductions(
    base: CapturedSet,
    rest: Sequence[CapturedSet],
    by_step: Sequence[CapturedSet],
    confidence: float,
    single: Measured | None = None,
) -> tuple[Reduction, ...]:
    """Reductions for one set: each of its augmentations, and snapshots of all of them, as far as recorded.

    Args:
        others: the last evaluations of sets named `base+augmentation`.
        by_step: all sets at steps of the main loop.
        single: measures of the base, computed before.
    """
    rows = []
    for other in rest:
        name = other.name.removeprefix(f"{base.name}+")
        rows.append(reduction(base, other, name, _n_members(name), confidence, single))
    for name in (base.name, *(other.name for other in rest)):
        latest = [snapshot for snapshot in by_step if snapshot.name == name][-N_SNAPSHOTS:]
        snapshots = _average_steps(latest)
        if snapshots is None:
            continue
        augmentation = name.removeprefix(base.name).removeprefix("+")
        label = f"snapshots+{augmentation}" if augmentation else "snapshots"
        copies = _n_members(augmentation) if augmentation else 1
        n_members = None if copies is None else len(latest) * copies
        rows.append(reduction(base, snapshots, label, n_members, confidence, single))
    return tuple(rows)


def reduction(
    base: CapturedSet,
    other: CapturedSet,
    name: str,
    n_members: int | None,
    confidence: float,
    single: Measured | None = None,
) -> Reduction:
    """How much less runs vary with these averaged outputs than with their single ones, over the runs that have both.

    The interval leaves out one run after the other, of both.

    Args:
        single: what was measured of all runs of the base already.

    Source: Summers & Dinneen (2021), as recovered from their table (`variability_reduction`).
    """
    replicates = [replicate for replicate in base.replicates if replicate in other.replicates]
    averaged = measure_all(classify(_of_runs(other, replicates)))
    if single is None or len(replicates) < len(base.replicates):
        single = measure_all(classify(_of_runs(base, replicates)))
    runs = np.arange(len(replicates))
    value, interval = _reduction(single, averaged, runs), _interval(single, averaged, runs, confidence)
    measures = _measures(averaged, confidence)
    return Reduction(name, n_members, averaged.accuracies, measures, value, interval)


def _reduction(single: Measured, averaged: Measured, runs: NDArray[np.intp]) -> Estimate:
    """The reductions as proportions, for these runs alone."""
    before, after = variability(single, runs), variability(averaged, runs)
    if isinstance(before, Unavailable):
        return before
    if isinstance(after, Unavailable):
        return after
    percent = variability_reduction(before, after)
    return percent if isinstance(percent, Unavailable) else percent / 100


def _interval(
    single: Measured, averaged: Measured, runs: NDArray[np.intp], confidence: float
) -> Interval | Unavailable:
    value = _reduction(single, averaged, runs)
    if isinstance(value, Unavailable):
        return value
    if len(runs) < VERDICT_RUNS:
        return Unavailable(f"needs {count(VERDICT_RUNS, 'run')}, has {len(runs)}")
    without = [_reduction(single, averaged, np.delete(runs, run)) for run in runs]
    shares = [share for share in without if not isinstance(share, Unavailable)]
    if len(shares) < len(without):
        return Unavailable("without one of the runs the single models do not vary")
    return jackknife(value, shares, confidence)


def _measures(of_set: Measured, confidence: float) -> tuple[Measure, ...]:
    """The five measures, as far as available."""
    measures = []
    if of_set.accuracies:
        measures.append(sd_measure("accuracy-sd", of_set.accuracies, confidence))
    if of_set.cross_entropies:
        measures.append(sd_measure("cross-entropy-sd", of_set.cross_entropies, confidence))
    if of_set.churn is not None:
        measures.append(over_pairs("churn", of_set.churn, confidence))
    if of_set.pearson is not None:
        measures.append(over_pairs("pearson", of_set.pearson, confidence))
    if of_set.gains is not None:
        measures.append(over_pairs("ensemble-accuracy", of_set.gains, confidence))
    return tuple(measures)


def _n_members(augmentation: str) -> int | None:
    """The number of averaged outputs, the original and its copies; None for an unknown augmentation."""
    copies = COPIES.get(augmentation)
    return None if copies is None else 1 + copies


def _of_runs(captured: CapturedSet, replicates: Sequence[int]) -> CapturedSet:
    """The set with the outputs of these runs alone."""
    if list(captured.replicates) == list(replicates):
        return captured
    rows = [captured.replicates.index(replicate) for replicate in replicates]
    return replace(
        captured,
        replicates=tuple(replicates),
        outputs=None if captured.outputs is None else captured.outputs[rows],
        labels=None if captured.labels is None else captured.labels[rows],
    )


def _average_steps(sets: Sequence[CapturedSet]) -> CapturedSet | None:
    """The mean outputs over several steps, of sets with the same examples of the same runs in one order."""
    if len(sets) < 2:
        return None
    last = sets[-1]
    total = None
    for one in sets:
        if one.outputs is None or last.outputs is None or one.outputs.shape != last.outputs.shape:
            return None
        if (one.replicates, one.kind) != (last.replicates, last.kind) or not _same_truth(one, last):
            return None
        total = one.outputs.astype(last.outputs.dtype) if total is None else total + one.outputs
    if total is None or last.kind == "values":
        return None
    total /= len(sets)
    return replace(last, outputs=total, labels=total.argmax(axis=-1))


def _same_truth(one: CapturedSet, other: CapturedSet) -> bool:
    if one.truth is None or other.truth is None:
        return one.truth is other.truth
    return np.array_equal(one.truth, other.truth)
