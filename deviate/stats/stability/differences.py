"""Whether runs of one experiment are closer to each other than those of the baseline."""

from collections.abc import Sequence

import numpy as np

from deviate.model import SetStability, StabilityDifference, WeightStability
from deviate.stats.stability.jackknife import difference_over_pairs


def differences(
    sets: Sequence[SetStability], weights: Sequence[WeightStability], confidence: float
) -> tuple[StabilityDifference, ...]:
    """Churn on sets that the first experiment has too, of as many examples, and distances of weights."""
    found = []
    for it in sets:
        base = next((one for one in sets if one.experiment == 0 and one.name == it.name), None)
        if it.experiment and base and it.disagreement and base.n_examples == it.n_examples:
            matrices = np.array(base.disagreement), np.array(it.disagreement)
            difference = difference_over_pairs("churn", *matrices, confidence)
            found.append(StabilityDifference(it.experiment, it.name, difference))
    for one in weights:
        if one.experiment and weights[0].experiment == 0 and _alike(weights[0], one):
            matrices = np.array(weights[0].distances), np.array(one.distances)
            difference = difference_over_pairs("weight-distance", *matrices, confidence)
            found.append(StabilityDifference(one.experiment, "", difference))
    return tuple(sorted(found, key=lambda it: it.experiment))


def _alike(one: WeightStability, other: WeightStability) -> bool:
    """Whether both models have the same layers: distances of others are none of the same thing."""
    return [(it.name, it.n_weights) for it in one.layers] == [(it.name, it.n_weights) for it in other.layers]
