"""How far apart the final weights of runs are, over all, by layer and by step."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from deviate.model import CapturedWeights, LayerDistance, Measure, WeightStability
from deviate.stability.measures.jackknife import over_pairs
from deviate.stability.measures.pairwise import normalised_distances

Layers = Mapping[str, NDArray[np.float64]]


def weight_distances(
    final: CapturedWeights, by_step: Mapping[int, Measure], index: int, confidence: float
) -> WeightStability:
    """Distances of weights normalised to length 1.

    Args:
        by_step: distances after steps of the main loop. index: of the experiment among those of the findings.

    Source: Zhuang et al. (2022).
    """
    distances = normalised_distances(final.layers)
    return WeightStability(
        experiment=index,
        replicates=final.replicates,
        distance=over_pairs("weight-distance", distances, confidence),
        distances=tuple(tuple(row) for row in distances.tolist()),
        layers=tuple(
            LayerDistance(name, int(layer.shape[1]), _distance({name: layer}, confidence))
            for name, layer in final.layers.items()
        ),
        steps=tuple(by_step.items()),
    )


def distances_by_step(weights: Sequence[CapturedWeights], confidence: float) -> dict[int, Measure]:
    """Mean distance over pairs after each step of the main loop, steps rising."""
    return {snapshot.step: _distance(snapshot.layers, confidence) for snapshot in weights if snapshot.step is not None}


def _distance(layers: Layers, confidence: float) -> Measure:
    return over_pairs("weight-distance", normalised_distances(layers), confidence)
