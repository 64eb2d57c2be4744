"""Compares a candidate with a baseline in one metric: every estimate, interval and test."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deviate.model.analysis import Direction
from deviate.model.comparisons import Comparison, Description, FurtherFigure, Ground, Paired, Verdict
from deviate.model.estimates import NOT_ASKED, PAIRED_ALONE_RUNS, VERDICT_RUNS, Estimate, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.changes import change_comparison
from deviate.stats.describe import describe
from deviate.stats.design import power
from deviate.stats.estimates import bootstrap, effect
from deviate.stats.estimates.sample import Values, differences_of, one_observation
from deviate.stats.estimates.spread import brown_forsythe, decide_spread, levene
from deviate.stats.hypothesis.both import (
    ask_fit,
    both_interval,
    equivalence,
    including,
    paired_both_interval,
    permutation_test,
    upper_p,
)
from deviate.stats.hypothesis.paired import compare_pairs, pairing_cost
from deviate.stats.hypothesis.two_sample import kolmogorov_smirnov, mann_whitney, student, welch, welch_interval
from deviate.stats.registry import Statistic, labelled_statistics
from deviate.stats.scores import deciding_scores, match
from deviate.stats.verdict import decide

_UNJUDGED = Verdict("undecided", Ground.RUNS)
PLAIN = (
    *(welch, student, kolmogorov_smirnov, levene),
    *(effect.cohens_d, effect.cohens_d_unweighted, effect.hedges_g, effect.glass_delta),
    *(effect.superiority, effect.cliffs_delta),
)
"""Statistics of two samples that a comparison has under their own names; those below take the confidence too."""
INTERVALS = (
    *(effect.hedges_g_interval, effect.superiority_interval, effect.cliffs_delta_interval),
    *(effect.sd_ratio_interval, power.detectable_interval),
)
BOOTSTRAPS = (bootstrap.difference_bootstrap, bootstrap.sd_ratio_bootstrap)


def compare(
    baseline: Values,
    candidate: Values,
    *,
    rng: np.random.Generator,
    name: str = "value",
    direction: Direction | None = None,
    margin: float | None = None,
    confidence: float = 0.95,
    is_paired: bool = False,
    spread_ratio: float | None = None,
) -> Comparison:
    """Compare two sets of scores, one value per run; differences are candidate minus baseline.

    Args:
        rng: seeds resamples.
        margin: smallest difference that matters, in units of the scores.
        is_paired: whether scores in the same place share their seeds, as was decided before there were any.
        spread_ratio: ratio of SDs, above 1, within which spreads count as equal.
    """
    sides = [
        describe(values, name=name, direction=direction, confidence=confidence) for values in (baseline, candidate)
    ]
    shared = smallest_se(sides)
    before, after = (replace(side, metric=replace(side.metric, margin=margin), rounding_se=shared) for side in sides)
    return compare_descriptions(
        before, after, rng=rng, confidence=confidence, is_paired=is_paired, spread_ratio=spread_ratio
    )


def smallest_se(sides: Iterable[Description]) -> float | None:
    """The smallest positive standard error of the mean, by which all sides are rounded; None if there is none."""
    errors = [side.se for side in sides if not isinstance(side.se, Unavailable)]
    return min((error for error in errors if error > 0), default=None)


def compare_descriptions(
    baseline: Description,
    candidate: Description,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
    is_paired: bool = False,
    spread_ratio: float | None = None,
    resamples: bootstrap.Resamples | None = None,
) -> Comparison:
    """Compare two descriptions as if there were no other comparison: p_adjusted is the p of the test that decides.

    Args:
        rng: seeds resamples, and statistics of other packages that draw.
        resamples: bootstrap resamples shared by several comparisons.
    """
    b, a = baseline.values, candidate.values
    seed = int(rng.integers(2**63))
    resamples = resamples or bootstrap.Resamples(np.random.default_rng(seed))
    robust, of_welch = brown_forsythe(b, a), welch_interval(b, a, confidence=confidence)
    margin, direction = baseline.metric.margin, baseline.metric.direction
    figures: dict[str, Any] = {function.__name__: function(b, a) for function in PLAIN}
    figures |= {function.__name__: function(b, a, confidence=confidence) for function in INTERVALS}
    figures |= {function.__name__: function(b, a, rng=resamples, confidence=confidence) for function in BOOTSTRAPS}
    comparison = Comparison(
        metric=baseline.metric,
        candidate_metric=candidate.metric,
        baseline=baseline,
        candidate=candidate,
        difference=_difference(baseline, candidate),
        difference_interval=of_welch
        if min(len(b), len(a)) < VERDICT_RUNS
        else both_interval(b, a, confidence=confidence),
        welch_interval=of_welch,
        mann_whitney=mann_whitney(b, a),
        p_adjusted=NOT_ASKED,
        brown_forsythe=robust,
        sd_ratio=effect.sd_ratio(b, a),
        detectable=power.detectable_difference(b, a, confidence=confidence),
        verdict=_UNJUDGED,
        equivalence=NOT_ASKED
        if margin is None
        else equivalence(b, a, margin=margin, direction=direction, confidence=confidence),
        permutation=permutation_test(b, a, confidence=confidence),
        glass_delta_interval=bootstrap.glass_delta_bootstrap(b, a, rng=resamples, confidence=confidence),
        spread_verdict=decide_spread(
            baseline, candidate, brown_forsythe=robust, confidence=confidence, spread_ratio=spread_ratio
        ),
        **figures,
    )
    if is_paired:
        comparison = _as_pairs(comparison, resamples, confidence)
    if (reason := one_observation(b, a)) is not None:
        comparison = change_comparison(comparison, lambda _: reason, lambda _: reason)
        equivalence_ = comparison.equivalence if margin is None else reason
        comparison = replace(comparison, detectable=reason, detectable_interval=reason, equivalence=equivalence_)
    pairs = deciding_scores(comparison) if is_paired else None
    further = _compute_labelled((b, a), pairs, confidence=confidence, seed=seed)
    comparison = _with_asked_values(replace(comparison, further=further), confidence)
    return with_adjusted_p(comparison, *both_p(comparison), confidence=confidence)


def _with_asked_values(comparison: Comparison, confidence: float) -> Comparison:
    """Extend the interval to 0 and the ends of the margin if the tests do not reject them.

    For very skewed scores and unequal numbers of runs the permutation p need not decrease monotonically away from the
    difference, and the interval may use fewer permutations. So these values are decided by their own p.
    """
    interval, margin = comparison.difference_interval, comparison.metric.margin
    b, a = deciding_scores(comparison)
    if isinstance(interval, Unavailable) or len(b) < VERDICT_RUNS or len(a) < VERDICT_RUNS:
        return comparison
    for null in (0.0,) if margin is None else (0.0, -margin, margin):
        if not interval.low <= null <= interval.high:
            both = ask_fit(b, a, null=null, confidence=confidence, is_paired=comparison.is_paired)
            if both.p_upper >= 1 - confidence:
                interval = including(interval, null)
    return replace(comparison, difference_interval=interval)


def refine_p(comparison: Comparison) -> Comparison:
    """The comparison with a p from as many permutations as for a p close to alpha."""
    _, permutation = comparison.both_tests
    b, a = deciding_scores(comparison)
    if isinstance(permutation, Unavailable) or not permutation.p_error:
        return comparison
    level = 1 - permutation.p_value  # so that p counts as close to alpha
    both = ask_fit(b, a, confidence=level, is_paired=comparison.is_paired)
    changed = replace(comparison, permutation=both.permutation)
    if isinstance(comparison.paired, Paired) and comparison.is_paired:
        changed = replace(comparison, paired=replace(comparison.paired, sign_flips=both.permutation))
    p_value, p_upper = both_p(changed)
    return replace(changed, p_adjusted=p_value, p_upper=p_upper)


def both_p(comparison: Comparison) -> tuple[Estimate, Estimate]:
    """The larger p of both tests, and the larger p at the upper end of the Monte-Carlo error."""
    t_test, permutation = comparison.both_tests
    if isinstance(t_test, Unavailable):
        return t_test, t_test
    if isinstance(permutation, Unavailable):
        return t_test.p_value, t_test.p_value
    return max(t_test.p_value, permutation.p_value), upper_p(t_test, permutation)


def with_adjusted_p(
    comparison: Comparison,
    p_adjusted: Estimate,
    p_upper: Estimate,
    *,
    confidence: float,
    n_family: int = 1,
    has_looks: bool = False,
) -> Comparison:
    """The comparison as a member of a family, with adjusted p and recomputed verdict."""
    adjusted = replace(comparison, p_adjusted=p_adjusted, p_upper=p_upper)
    verdict = decide(adjusted, confidence=confidence, n_family=n_family, has_looks=has_looks)
    return replace(adjusted, verdict=verdict)


def _as_pairs(comparison: Comparison, resamples: bootstrap.Resamples, confidence: float) -> Comparison:
    """What is decided by pairs: difference, interval, equivalence, and what these pairs could have seen.

    Ranks, effect sizes and spread stay those of the two sides.
    """
    baseline, candidate = comparison.baseline, comparison.candidate
    b, a, _ = match(baseline, candidate)
    result = compare_pairs(baseline, candidate, confidence=confidence)
    differences = differences_of(b, a)
    interval = result.interval if len(b) < PAIRED_ALONE_RUNS else paired_both_interval(b, a, confidence=confidence)
    margin, direction = baseline.metric.margin, baseline.metric.direction
    return replace(
        comparison,
        is_paired=True,
        paired=result,
        difference=result.difference,
        difference_interval=interval,
        difference_bootstrap=differences
        if isinstance(differences, Unavailable)
        else bootstrap.mean_bootstrap(differences, rng=resamples, confidence=confidence),
        equivalence=NOT_ASKED
        if margin is None
        else equivalence(b, a, margin=margin, direction=direction, confidence=confidence, is_paired=True),
        detectable=power.detectable_paired(b, a, confidence=confidence),
        detectable_interval=power.detectable_paired_interval(b, a, confidence=confidence),
        note=pairing_cost(baseline, candidate, confidence=confidence),
    )


def _difference(baseline: Description, candidate: Description) -> Estimate:
    before, after = baseline.mean, candidate.mean
    if isinstance(before, Unavailable):
        return Unavailable(baseline.note)
    return Unavailable(candidate.note) if isinstance(after, Unavailable) else after - before


Samples = tuple[Sequence[float], Sequence[float]]
"""Scores of the baseline and of the candidate."""


def _compute_labelled(
    unpaired: Samples, paired: Samples | None, *, confidence: float, seed: int
) -> tuple[FurtherFigure, ...]:
    """The figures of these statistics for two sides, the baseline first.

    Args:
        paired: scores of the pairs; None where runs are not paired, and statistics of pairs are not asked for.
        seed: of the generator that each statistic which draws begins with.
    """
    return tuple(
        _compute(statistic, paired if statistic.is_paired else unpaired, confidence, seed)
        for statistic in labelled_statistics()
    )


def _compute(statistic: Statistic, samples: Samples | None, confidence: float, seed: int) -> FurtherFigure:
    if samples is None:
        return FurtherFigure(statistic.name, NOT_ASKED)
    generator = {"rng": np.random.default_rng(seed)} if statistic.draws else {}
    try:
        value = statistic.function(*samples, **generator)
        around = NOT_ASKED if statistic.interval is None else statistic.interval(*samples, confidence=confidence)
    except Exception as error:  # noqa: BLE001  (a third party's statistic may raise what it likes; the others stand)
        return FurtherFigure(statistic.name, Unavailable(Reason.OF(type(error).__name__, error)))
    return FurtherFigure(statistic.name, value, around)
