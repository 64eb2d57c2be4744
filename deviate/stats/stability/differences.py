"""Whether runs of one experiment are closer to each other than those of the baseline."""

from collections.abc import Sequence

import numpy as np

from deviate.model import SetStability, StabilityDifference, WeightStability
from deviate.stats.stability.jackknife import difference_over_pairs


def differences(
    sets: Sequence[SetStability], weights: Sequence[WeightStability], confidence: float
) -> tuple[StabilityDifference, ...]:
    """Differences in churn, on sets of both experiments with equally many examples, and in weight distances."""
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
    """Whether both models have the same layers; otherwise distances are not comparable."""
    return [(layer.name, layer.n_weights) for layer in one.layers] == [
        (layer.name, layer.n_weights) for layer in other.layers
    ]
