"""Measures of how similar runs are in outputs and weights, beyond their scores: arrays in, findings out."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.stability.measures.classified import calibration_error as calibration_error
    from deviate.stability.measures.findings import stability as stability
    from deviate.stability.measures.intervals import difference_over_pairs as difference_over_pairs
    from deviate.stability.measures.intervals import over_pairs as over_pairs
    from deviate.stability.measures.pairwise import disagreement as disagreement
    from deviate.stability.measures.pairwise import ensemble_deltas as ensemble_deltas
    from deviate.stability.measures.pairwise import linear_cka as linear_cka
    from deviate.stability.measures.pairwise import normalised_distances as normalised_distances
    from deviate.stability.measures.pairwise import pearson as pearson
    from deviate.stability.measures.pairwise import spearman as spearman

load_on_first_use(__name__)
