"""Stability: how similar runs are in outputs and weights, beyond their scores."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.stats.estimates.largest import mean_largest_range as mean_largest_range
    from deviate.stats.estimates.largest import mean_largest_sd as mean_largest_sd
    from deviate.stats.stability.calibration import calibration_error as calibration_error
    from deviate.stats.stability.ensembles import ensemble_deltas as ensemble_deltas
    from deviate.stats.stability.figures import relative_range as relative_range
    from deviate.stats.stability.findings import stability as stability
    from deviate.stats.stability.jackknife import difference_over_pairs as difference_over_pairs
    from deviate.stats.stability.jackknife import over_pairs as over_pairs
    from deviate.stats.stability.pairwise import disagreement as disagreement
    from deviate.stats.stability.pairwise import linear_cka as linear_cka
    from deviate.stats.stability.pairwise import normalised_distances as normalised_distances
    from deviate.stats.stability.pairwise import pearson as pearson
    from deviate.stats.stability.pairwise import spearman as spearman

load_on_first_use(__name__)
