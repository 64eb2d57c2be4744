"""Stability: how alike runs are in outputs and weights, beyond their scores."""

from deviate.stats.stability.calibration import calibration_error
from deviate.stats.stability.ensembles import ensemble_deltas
from deviate.stats.stability.figures import relative_range
from deviate.stats.stability.findings import stability
from deviate.stats.stability.jackknife import difference_over_pairs, over_pairs
from deviate.stats.stability.largest import mean_largest_range, mean_largest_sd
from deviate.stats.stability.pairwise import disagreement, linear_cka, normalised_distances, pearson, spearman

__all__ = [
    "calibration_error",
    "difference_over_pairs",
    "disagreement",
    "ensemble_deltas",
    "linear_cka",
    "mean_largest_range",
    "mean_largest_sd",
    "normalised_distances",
    "over_pairs",
    "pearson",
    "relative_range",
    "spearman",
    "stability",
]
