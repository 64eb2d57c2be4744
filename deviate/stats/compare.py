"""Comparing a candidate with a baseline in one metric: every estimate, interval and test at once."""

from dataclasses import replace

import numpy as np

from deviate.model import Comparison, Description, Direction, Estimate, Unavailable
from deviate.stats.describe import describe
from deviate.stats.effect import (
    cohens_d,
    cohens_d_unweighted,
    hedges_g,
    hedges_g_interval,
    sd_ratio,
    sd_ratio_interval,
    superiority,
    superiority_interval,
)
from deviate.stats.power import detectable_difference
from deviate.stats.sample import Values
from deviate.stats.spread import brown_forsythe
from deviate.stats.two_sample import mann_whitney, student, welch, welch_interval
from deviate.stats.verdict import decide


def compare(
    baseline: Values,
    candidate: Values,
    *,
    rng: np.random.Generator,
    name: str = "value",
    direction: Direction | None = None,
    margin: float | None = None,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two sets of scores, one value per run; differences are candidate minus baseline.

    Args:
        rng: permutes the ranks of the Mann-Whitney test when there are ties.
        margin: smallest difference that matters, in units of the scores.
    """
    sides = [
        describe(values, name=name, direction=direction, confidence=confidence) for values in (baseline, candidate)
    ]
    before, after = (replace(side, metric=replace(side.metric, margin=margin)) for side in sides)
    return compare_descriptions(before, after, rng=rng, confidence=confidence)


def compare_descriptions(
    baseline: Description, candidate: Description, *, rng: np.random.Generator, confidence: float = 0.95
) -> Comparison:
    """Compare two descriptions as if there were no other comparison: p_adjusted is Welch's p."""
    b = [score.value for score in baseline.scores]
    a = [score.value for score in candidate.scores]
    welch_test = welch(b, a)
    p_value: Estimate = welch_test if isinstance(welch_test, Unavailable) else welch_test.p_value
    return Comparison(
        metric=baseline.metric,
        candidate_metric=candidate.metric,
        baseline=baseline,
        candidate=candidate,
        difference=_difference(baseline, candidate),
        difference_interval=welch_interval(b, a, confidence=confidence),
        welch=welch_test,
        student=student(b, a),
        mann_whitney=mann_whitney(b, a, rng=rng),
        p_adjusted=p_value,
        cohens_d=cohens_d(b, a),
        cohens_d_unweighted=cohens_d_unweighted(b, a),
        hedges_g=hedges_g(b, a),
        hedges_g_interval=hedges_g_interval(b, a, confidence=confidence),
        superiority=superiority(b, a),
        brown_forsythe=brown_forsythe(b, a),
        sd_ratio=sd_ratio(b, a),
        sd_ratio_interval=sd_ratio_interval(b, a, confidence=confidence),
        detectable=detectable_difference(b, a, confidence=confidence),
        verdict=decide(baseline, candidate, p_adjusted=p_value, confidence=confidence),
        superiority_interval=superiority_interval(b, a, confidence=confidence),
    )


def with_adjusted_p(comparison: Comparison, p_adjusted: Estimate, *, confidence: float) -> Comparison:
    """The comparison as one of a family: its p adjusted, its verdict decided anew."""
    interval = comparison.difference_interval
    verdict = decide(
        comparison.baseline,
        comparison.candidate,
        p_adjusted=p_adjusted,
        confidence=confidence,
        level=None if isinstance(interval, Unavailable) else interval.confidence,
    )
    return replace(comparison, p_adjusted=p_adjusted, verdict=verdict)


def _difference(baseline: Description, candidate: Description) -> Estimate:
    for description in (baseline, candidate):
        if isinstance(description.mean, Unavailable):
            return Unavailable(description.note)
    if isinstance(candidate.mean, Unavailable) or isinstance(baseline.mean, Unavailable):
        return Unavailable("no score")
    return candidate.mean - baseline.mean
