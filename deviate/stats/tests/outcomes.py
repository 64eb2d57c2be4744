"""What a comparison says beyond the scores of runs that completed: failures, curves, time to a target."""

from dataclasses import replace

import numpy as np

from deviate.model import NOT_ASKED, Comparison, Experiment
from deviate.stats.tests.attainment import compare_attainment
from deviate.stats.tests.curves import compare_curves
from deviate.stats.tests.failures import worst_rank


def with_outcomes(
    comparison: Comparison,
    baseline: Experiment,
    candidate: Experiment,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> Comparison:
    """The comparison with failed runs ranked worst, the metric against steps, and the time to its target.

    Args:
        rng: gives one number, with which the generator of each of them begins, as in `compare_descriptions`.
    """
    before, after = comparison.baseline, comparison.candidate
    seed = int(rng.integers(2**63))
    has_target = comparison.metric.target is not None
    return replace(
        comparison,
        # It takes part in verdicts, which do not depend on the analysis seed.
        worst_rank=worst_rank(before, after, rng=np.random.default_rng(0)),
        curve=compare_curves(
            baseline,
            candidate,
            comparison.metric,
            comparison.candidate_metric,
            rng=np.random.default_rng(seed),
            confidence=confidence,
        ),
        attainment=compare_attainment(before.attainment, after.attainment, rng=np.random.default_rng(seed))
        if has_target
        else NOT_ASKED,
    )
