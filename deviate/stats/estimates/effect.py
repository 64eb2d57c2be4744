"""Effect sizes: standardised differences, probability of superiority, ratio of spreads."""

import math

import scipy
from scipy import special

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.phrases import Method, Reason
from deviate.stats.estimates.sample import (
    Sample,
    SampleSummary,
    Values,
    moments,
    pooled_sd,
    refusal,
    spread_refusal,
    without_ratio,
    without_spread,
)
from deviate.stats.estimates.summary import noncentrality, t_quantile, welch_df
from deviate.stats.registry import statistic

CORRECTED_DF = 14
"""Degrees of freedom from which the small-sample correction hardly moves the ends of an interval."""


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores", refuse=without_spread)
def cohens_d(baseline: Sample, candidate: Sample) -> Estimate:
    """Difference of means in units of the pooled SD, weighted by degrees of freedom.

    Source: Hedges (1981), before the correction for small samples.
    """
    b, a = moments(baseline), moments(candidate)
    return (a.mean - b.mean) / pooled_sd(b, a)


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores", refuse=without_spread)
def cohens_d_unweighted(baseline: Sample, candidate: Sample) -> Estimate:
    """Difference of means over sqrt((s_A^2 + s_B^2) / 2), as the DEVIATE paper defines it.

    Source: Pham et al. (2021).
    """
    b, a = moments(baseline), moments(candidate)
    return (a.mean - b.mean) / (math.hypot(a.sd, b.sd) / math.sqrt(2))


@statistic(n_samples=2, minimum=3, shift="ignores", scale="ignores", refuse=without_spread)
def hedges_g(baseline: Sample, candidate: Sample) -> Estimate:
    """Cohen's d times the small-sample correction J.

    Source: Hedges (1981).
    """
    d = cohens_d(baseline, candidate)
    return d if isinstance(d, Unavailable) else d * hedges_correction(moments(baseline).n + moments(candidate).n - 2)


@statistic(n_samples=2, minimum=3, shift="ignores", scale="ignores", refuse=without_spread)
def hedges_g_interval(baseline: Sample, candidate: Sample, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of g: the noncentralities under which the observed t is at either tail, in units of g.

    From 8 runs in each on (14 degrees of freedom) it is times J, as g is. J takes the bias from an estimate; of an
    interval that covers exactly it makes one that covers J times the effect. With 8 runs that is as good as the same;
    with 3, and an effect of 2 SD, it would cover the effect in 90 % of cases instead of 95 %.
    Source: Hedges (1981); noncentral t with n_A + n_B - 2 degrees of freedom.
    """
    b, a = moments(baseline), moments(candidate)
    df, per_unit = b.n + a.n - 2, _per_unit(b, a)
    t = (a.mean - b.mean) / pooled_sd(b, a) / per_unit
    low, high = (noncentrality(t, df, (1 + side * confidence) / 2) for side in (1, -1))
    if low is None or high is None:
        return Unavailable(Reason.TOO_EXTREME)
    is_corrected = df >= CORRECTED_DF
    scale = per_unit * (hedges_correction(df) if is_corrected else 1.0)
    method = Method.NONCENTRAL_T if is_corrected else Method.NONCENTRAL_T_OF_D
    return Interval(low * scale, high * scale, confidence, method)


def hedges_correction(df: int) -> float:
    """Factor J that removes the small-sample bias of Cohen's d: gamma(k/2) / (sqrt(k/2) gamma((k-1)/2)).

    Source: Hedges (1981).
    """
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def _per_unit(baseline: SampleSummary, candidate: SampleSummary) -> float:
    """Standard error of the difference for a common SD of 1."""
    return math.sqrt(1 / baseline.n + 1 / candidate.n)


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=refusal)
def glass_delta(baseline: Values, candidate: Values) -> Estimate:
    """Difference of means in units of the SD of the baseline: for spreads that differ much.

    Source: Glass (1976).
    """
    if no_spread := spread_refusal(baseline):
        return Unavailable(Reason.OF("baseline", no_spread.reason))
    b = moments(baseline)
    return (moments(candidate).mean - b.mean) / b.sd


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=refusal)
def superiority(baseline: Values, candidate: Values) -> Estimate:
    """P(candidate > baseline) + P(equal) / 2 for a run of each.

    Source: Vargha & Delaney (2000), A12 = U / (n_A n_B).
    """
    n_a, n_b = len(candidate), len(baseline)
    rank_sum = float(scipy.stats.rankdata([*candidate, *baseline])[:n_a].sum())
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
        return Interval(low, high, confidence, Method.ONE_SIDED)
    a, b = moments(_placements(candidate, baseline)), moments(_placements(baseline, candidate))
    half_width = t_quantile((1 + confidence) / 2, welch_df(a, b)) * math.hypot(a.se, b.se) / (p * (1 - p))
    low, high = (float(special.expit(special.logit(p) + side * half_width)) for side in (-1, 1))
    return Interval(low, high, confidence, Method.BRUNNER_MUNZEL)


def _placements(values: Values, reference: Values) -> list[float]:
    """The proportion of the reference below each value, equal values counted by half.

    The test of Brunner & Munzel is Welch's on these proportions. Computed here, because importing that of `statsmodels`
    imports pandas, a fifth of the time of a comparison.
    """
    ranks = scipy.stats.rankdata([*values, *reference])[: len(values)] - scipy.stats.rankdata(values)
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
def sd_ratio(baseline: Sample, candidate: Sample) -> Estimate:
    """SD of the candidate over SD of the baseline.

    Source: the quantity of the F test of two variances.
    """
    return moments(candidate).sd / moments(baseline).sd


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=without_ratio)
def sd_ratio_interval(baseline: Sample, candidate: Sample, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the SD ratio for normal scores.

    Source: F distribution of s_A^2 / s_B^2 with n_A - 1 and n_B - 1 degrees of freedom.
    """
    b, a = moments(baseline), moments(candidate)
    ratio, tail = a.sd / b.sd, (1 + confidence) / 2
    low = ratio / math.sqrt(float(special.fdtri(a.n - 1, b.n - 1, tail)))
    high = ratio * math.sqrt(float(special.fdtri(b.n - 1, a.n - 1, tail)))
    return Interval(low, high, confidence, Method.F)
