"""Effect sizes: standardised differences, probability of superiority, ratio of spreads."""

import math

from scipy import special, stats

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.stats.estimates import summary
from deviate.stats.estimates.sample import Values, moments, refusal, spread_refusal, without_ratio, without_spread
from deviate.stats.estimates.summary import t_quantile, welch_df
from deviate.stats.registry import statistic


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores", refuse=without_spread)
def cohens_d(baseline: Values, candidate: Values) -> Estimate:
    """Difference of means in units of the pooled SD, weighted by degrees of freedom.

    Source: Hedges (1981), before the correction for small samples.
    """
    return summary.cohens_d(moments(baseline), moments(candidate))


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores", refuse=without_spread)
def cohens_d_unweighted(baseline: Values, candidate: Values) -> Estimate:
    """Difference of means over sqrt((s_A^2 + s_B^2) / 2), as the DEVIATE paper defines it.

    Source: Pham et al. (2021).
    """
    return summary.cohens_d_unweighted(moments(baseline), moments(candidate))


@statistic(n_samples=2, minimum=3, shift="ignores", scale="ignores", refuse=without_spread)
def hedges_g(baseline: Values, candidate: Values) -> Estimate:
    """Cohen's d times the small-sample correction J.

    Source: Hedges (1981).
    """
    return summary.hedges_g(moments(baseline), moments(candidate))


@statistic(n_samples=2, minimum=3, shift="ignores", scale="ignores", refuse=without_spread)
def hedges_g_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of g: the noncentralities under which the observed t is at either tail, in units of g.

    Source: Hedges (1981); noncentral t with n_A + n_B - 2 degrees of freedom.
    """
    return summary.hedges_g_interval(moments(baseline), moments(candidate), confidence=confidence)


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=refusal)
def glass_delta(baseline: Values, candidate: Values) -> Estimate:
    """Difference of means in units of the SD of the baseline: for spreads that differ much.

    Source: Glass (1976).
    """
    if no_spread := spread_refusal(baseline):
        return Unavailable(f"baseline: {no_spread.reason}")
    b = moments(baseline)
    return (moments(candidate).mean - b.mean) / b.sd


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=refusal)
def superiority(baseline: Values, candidate: Values) -> Estimate:
    """P(candidate > baseline) + P(equal) / 2 for a run of each.

    Source: Vargha & Delaney (2000), A12 = U / (n_A n_B).
    """
    n_a, n_b = len(candidate), len(baseline)
    rank_sum = float(stats.rankdata([*candidate, *baseline])[:n_a].sum())
    return (rank_sum - n_a * (n_a + 1) / 2) / (n_a * n_b)


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores")
def superiority_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the superiority on the logit scale, which keeps it between 0 and 1.

    At complete separation the standard error is 0 and only one side can be bounded: of min(n_A, n_B) disjoint pairs
    all went one way, so the probability p of one pair going that way has p^min(n_A, n_B) >= alpha.
    Source: standard error and df of Brunner & Munzel (2000); bound as Clopper & Pearson (1934) for m of m.
    """
    p = superiority(baseline, candidate)
    if isinstance(p, Unavailable):
        return p
    if reason := spread_refusal(baseline, candidate):
        return reason
    if p in (0, 1):
        bound = (1 - confidence) ** (1 / min(len(baseline), len(candidate)))
        low, high = (bound, 1.0) if p == 1 else (0.0, 1 - bound)
        return Interval(low, high, confidence, "one-sided bound at complete separation")
    a, b = moments(_placements(candidate, baseline)), moments(_placements(baseline, candidate))
    half_width = t_quantile((1 + confidence) / 2, welch_df(a, b)) * math.hypot(a.se, b.se) / (p * (1 - p))
    low, high = (float(special.expit(special.logit(p) + side * half_width)) for side in (-1, 1))
    return Interval(low, high, confidence, "Brunner-Munzel, logit scale")


def _placements(values: Values, reference: Values) -> list[float]:
    """The proportion of the reference below each value, equal values counted by half.

    The test of Brunner & Munzel is Welch's on these proportions. Computed here, because importing that of `statsmodels`
    imports pandas, a fifth of the time of a comparison.
    """
    ranks = stats.rankdata([*values, *reference])[: len(values)] - stats.rankdata(values)
    return [float(rank) / len(reference) for rank in ranks]


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores")
def cliffs_delta(baseline: Values, candidate: Values) -> Estimate:
    """P(candidate > baseline) - P(candidate < baseline) for a run of each: 2 A12 - 1.

    Source: Cliff (1993).
    """
    p = superiority(baseline, candidate)
    return p if isinstance(p, Unavailable) else 2 * p - 1


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores")
def cliffs_delta_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of Cliff's delta: that of the superiority, from 0 … 1 to -1 … 1.

    Source: as `superiority_interval`.
    """
    interval = superiority_interval(baseline, candidate, confidence=confidence)
    if isinstance(interval, Unavailable):
        return interval
    return Interval(2 * interval.low - 1, 2 * interval.high - 1, confidence, interval.method)


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=without_ratio)
def sd_ratio(baseline: Values, candidate: Values) -> Estimate:
    """SD of the candidate over SD of the baseline.

    Source: the quantity of the F test of two variances.
    """
    return summary.sd_ratio(moments(baseline), moments(candidate))


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=without_ratio)
def sd_ratio_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the SD ratio for normal scores.

    Source: F distribution of s_A^2 / s_B^2 with n_A - 1 and n_B - 1 degrees of freedom.
    """
    return summary.sd_ratio_interval(moments(baseline), moments(candidate), confidence=confidence)
