"""What a comparison says beyond the scores of runs that completed: failures, curves, time to a target."""

from dataclasses import replace

import numpy as np

from deviate.model import NOT_ASKED, Comparison, Experiment
from deviate.stats.attainment import compare_attainment
from deviate.stats.curves import compare_curves
from deviate.stats.failures import worst_rank


def with_outcomes(
    comparison: Comparison,
    baseline: Experiment,
    candidate: Experiment,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> Comparison:
    """The comparison with failed runs ranked worst, the metric against steps, and the time to its target."""
    before, after = comparison.baseline, comparison.candidate
    has_target = comparison.metric.target is not None
    return replace(
        comparison,
        worst_rank=worst_rank(before, after, rng=rng),
        curve=compare_curves(
            baseline, candidate, comparison.metric, comparison.candidate_metric, rng=rng, confidence=confidence
        ),
        attainment=compare_attainment(before.attainment, after.attainment, rng=rng) if has_target else NOT_ASKED,
    )
