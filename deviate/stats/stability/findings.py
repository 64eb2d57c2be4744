"""Stability findings: every set and the weights of every experiment, convergence, and weak models."""

from collections.abc import Sequence

import numpy as np

from deviate.model import Captured, Experiment, StabilityFindings
from deviate.stats.estimates.bootstrap import Resamples
from deviate.stats.stability.convergence import convergence
from deviate.stats.stability.differences import differences
from deviate.stats.stability.sets import base_of, set_stability
from deviate.stats.stability.weak import weak_models
from deviate.stats.stability.weights import distances_by_step, weight_distances


def stability(
    captured: Sequence[Captured],
    experiments: Sequence[Experiment],
    *,
    confidence: float,
    rng: np.random.Generator,
    columns: Sequence[str] | None = None,
    weak: tuple[str, float] | None = None,
    convergence_metric: str | None = None,
) -> StabilityFindings:
    """Stability findings, as far as outputs, weights and times were recorded.

    Args:
        captured: one per experiment, in the same order; empty if nothing was captured. columns: example columns that
            hold groups; None for every column with few values. weak: name of a metric and the score below which a model
            is weak (above which, if less is better). convergence_metric: metric of the convergence table, instead of
            the primary one.

    Raises:
        InputError: no experiment has the metric of `weak`.
    """
    resamples = Resamples(rng)
    by_step = [distances_by_step(one.weights_by_step, confidence) for one in captured]
    sets = tuple(
        set_stability(
            captured_set,
            one,
            index,
            weights_by_step=by_step[index],
            confidence=confidence,
            rng=resamples,
            columns=columns,
        )
        for index, one in enumerate(captured)
        for captured_set in one.sets
        if base_of(captured_set, one) is None
    )
    weights = tuple(
        weight_distances(one.weights, by_step[index], index, confidence)
        for index, one in enumerate(captured)
        if one.weights is not None
    )
    times = (convergence(experiment, index, metric=convergence_metric) for index, experiment in enumerate(experiments))
    return StabilityFindings(
        sets=sets,
        weights=weights,
        convergence=tuple(time for time in times if time is not None),
        weak=() if weak is None else weak_models(experiments, *weak),
        reasons=tuple(item.reasons for item in captured),
        differences=differences(sets, weights, confidence),
    )
