"""Stability findings: every set and the weights of every experiment, convergence, and weak models."""

from collections.abc import Sequence

import numpy as np

from deviate.model import Captured, Experiment, SetStability, StabilityDifference, StabilityFindings, WeightStability
from deviate.stability.measures.convergence import convergence
from deviate.stability.measures.jackknife import difference_over_pairs
from deviate.stability.measures.sets import base_of, set_stability
from deviate.stability.measures.weak import weak_models
from deviate.stability.measures.weights import distances_by_step, weight_distances
from deviate.stats import Resamples


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
        differences=_differences(sets, weights, confidence),
    )


def _differences(
    sets: Sequence[SetStability], weights: Sequence[WeightStability], confidence: float
) -> tuple[StabilityDifference, ...]:
    """Churn on sets that the first experiment has too, of as many examples, and distances of weights."""
    measured = []
    for captured_set in sets:
        base = next((one for one in sets if one.experiment == 0 and one.name == captured_set.name), None)
        if (
            captured_set.experiment
            and base
            and captured_set.disagreement
            and base.n_examples == captured_set.n_examples
        ):
            matrices = np.array(base.disagreement), np.array(captured_set.disagreement)
            difference = difference_over_pairs("churn", *matrices, confidence)
            measured.append(StabilityDifference(captured_set.experiment, captured_set.name, difference))
    for one in weights:
        if one.experiment and weights[0].experiment == 0 and _alike(weights[0], one):
            matrices = np.array(weights[0].distances), np.array(one.distances)
            difference = difference_over_pairs("weight-distance", *matrices, confidence)
            measured.append(StabilityDifference(one.experiment, "", difference))
    return tuple(sorted(measured, key=lambda difference: difference.experiment))


def _alike(one: WeightStability, other: WeightStability) -> bool:
    """Whether both models have the same layers: distances of others are none of the same thing."""
    return [(layer.name, layer.n_weights) for layer in one.layers] == [
        (layer.name, layer.n_weights) for layer in other.layers
    ]
