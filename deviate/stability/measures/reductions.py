"""Reduction of variability by averaging a run's own outputs, over snapshots or augmented copies of its input."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deviate.model.estimates import VERDICT_RUNS, Estimate, Interval, Unavailable
from deviate.model.records import CapturedSet
from deviate.model.stability import MeasureName, Reduction
from deviate.stability.measures.classified import Classified, classify, measures_of
from deviate.stability.measures.intervals import NO_TRUTH, jackknife
from deviate.stats.estimates.one_sample import SINGLE_RUN
from deviate.stats.estimates.sample import moments, too_few

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
REDUCED: tuple[MeasureName, ...] = ("accuracy-sd", "cross-entropy-sd", "churn", "pearson", "ensemble-accuracy")
"""The five measures of Summers & Dinneen (2021)."""
N_SNAPSHOTS = 5
"""Number of last outputs of a run that a snapshot ensemble averages. Source: Summers & Dinneen (2021): 5 cycles."""


class Variability(NamedTuple):
    """Variability of the runs of one method; the five measures of Summers & Dinneen (2021).

    Attributes:
        sd_accuracy, sd_cross_entropy: over runs.
        disagreement: mean share of examples on which two runs disagree. correlation: mean of their outputs, below 1.
        ensemble_delta: mean gain of an ensemble of two over its members.
    """

    sd_accuracy: float
    sd_cross_entropy: float
    disagreement: float
    correlation: float
    ensemble_delta: float


def reductions(
    base: CapturedSet,
    rest: Sequence[CapturedSet],
    by_step: Sequence[CapturedSet],
    confidence: float,
    single: Classified | None = None,
) -> tuple[Reduction, ...]:
    """Reductions for one set: each of its augmentations, and snapshots of all of them, as far as recorded.

    Args:
        others: the last evaluations of sets named `base+augmentation`.
        by_step: all sets at steps of the main loop.
        single: measures of the base, computed before.
    """
    augmented = {other.name.removeprefix(f"{base.name}+"): other for other in rest}
    rows = [reduction(base, other, name, _n_members(name), confidence, single) for name, other in augmented.items()]
    for name, one in {"": base, **augmented}.items():
        latest = [snapshot for snapshot in by_step if snapshot.name == one.name][-N_SNAPSHOTS:]
        snapshots, n = _average_steps(latest), _n_members(name)
        if snapshots is not None:
            label = f"snapshots+{name}" if name else "snapshots"
            rows.append(reduction(base, snapshots, label, n and n * len(latest), confidence, single))
    return tuple(rows)


def reduction(
    base: CapturedSet,
    other: CapturedSet,
    name: str,
    n_members: int | None,
    confidence: float,
    single: Classified | None = None,
) -> Reduction:
    """How much less runs vary with these averaged outputs than with their single ones, over the runs that have both.

    The interval leaves out one run after the other, of both.

    Args:
        single: what was measured of all runs of the base already.

    Source: Summers & Dinneen (2021), as recovered from their table (`variability_reduction`).
    """
    replicates = [replicate for replicate in base.replicates if replicate in other.replicates]
    averaged = classify(_of_runs(other, replicates))
    if single is None or len(replicates) < len(base.replicates):
        single = classify(_of_runs(base, replicates))
    runs = np.arange(len(replicates))
    value = _reduction(single, averaged, runs)
    interval = value if isinstance(value, Unavailable) else _interval(value, single, averaged, confidence)
    return Reduction(name, n_members, averaged.accuracies, measures_of(averaged, REDUCED, confidence), value, interval)


def _reduction(single: Classified, averaged: Classified, runs: NDArray[np.intp]) -> Estimate:
    """The reductions as proportions, for these runs alone."""
    before, after = variability(single, runs), variability(averaged, runs)
    if isinstance(before, Unavailable):
        return before
    if isinstance(after, Unavailable):
        return after
    percent = variability_reduction(before, after)
    return percent if isinstance(percent, Unavailable) else percent / 100


def _interval(value: float, single: Classified, averaged: Classified, confidence: float) -> Interval | Unavailable:
    n = len(averaged.accuracies)
    if few := too_few(VERDICT_RUNS, n):
        return few
    runs = np.arange(n)
    without = [_reduction(single, averaged, np.delete(runs, run)) for run in runs]
    shares = [share for share in without if not isinstance(share, Unavailable)]
    if len(shares) < len(without):
        return Unavailable("single models do not vary when a run is left out")
    return jackknife(value, shares, confidence)


def variability(answers: Classified, runs: NDArray[np.intp]) -> Variability | Unavailable:
    """The five measures of Summers & Dinneen (2021) of these runs alone."""
    if answers.churn is None or answers.pearson is None:
        return Unavailable("outputs are not class scores")
    if answers.gains is None:
        return NO_TRUTH
    if len(runs) < 2:
        return SINGLE_RUN
    pairs, upper = np.ix_(runs, runs), np.triu_indices(len(runs), 1)
    means = [float(matrix[pairs][upper].mean()) for matrix in (answers.churn, answers.pearson, answers.gains[0])]
    scores = [[score[run] for run in runs] for score in (answers.accuracies, answers.cross_entropies)]
    if not np.isfinite([*means, *scores[0], *scores[1]]).all():
        return Unavailable("one of the measures has no finite value")
    return Variability(moments(scores[0]).sd, moments(scores[1]).sd, *means)


def _n_members(augmentation: str) -> int | None:
    """The number of averaged outputs, the original and its copies; None for an unknown augmentation."""
    copies = COPIES.get(augmentation) if augmentation else 0
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
    last = sets[-1] if len(sets) > 1 else None
    if last is None or last.outputs is None or last.kind == "values":
        return None
    total = np.zeros_like(last.outputs)
    for one in sets:
        if one.outputs is None or one.outputs.shape != total.shape or not _same_truth(one, last):
            return None
        if (one.replicates, one.kind) != (last.replicates, last.kind):
            return None
        total += one.outputs
    total /= len(sets)
    return replace(last, outputs=total, labels=total.argmax(axis=-1))


def _same_truth(one: CapturedSet, other: CapturedSet) -> bool:
    if one.truth is None or other.truth is None:
        return one.truth is other.truth
    return np.array_equal(one.truth, other.truth)


def variability_reduction(single: Variability, other: Variability) -> float | Unavailable:
    """Percentage by which a method varies less than single models, mean over the five measures.

    Of the correlation it is the distance from 1 that counts; the raw correlation does not give the published rows.
    Source: Summers & Dinneen (2021), as recovered from their table.
    """
    before, after = (one._replace(correlation=1 - one.correlation) for one in (single, other))
    if not all(map(math.isfinite, (*before, *after))):
        return Unavailable("a measure has no finite value")
    if not all(size > 0 for size in before[:-1]):
        return Unavailable("single models do not vary in one of the measures")
    if single.ensemble_delta <= 0:
        return Unavailable("averaging two single models gains nothing")
    return 100 * math.fsum(1 - new / old for old, new in zip(before, after, strict=True)) / len(before)
