"""Sizes of an effect: standardised differences, probability of superiority, ratio of spreads."""

import math
from collections.abc import Callable

from scipy import optimize, special, stats
from statsmodels.stats.nonparametric import rank_compare_2indep

from deviate.model import Estimate, Interval, Unavailable
from deviate.stats.registry import statistic
from deviate.stats.sample import Values, moments, pooled_sd, ratio_refusal, refusal, spread_refusal


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores")
def cohens_d(baseline: Values, candidate: Values) -> Estimate:
    """Difference of means in units of the pooled SD, weighted by degrees of freedom.

    Source: Hedges (1981), before the correction for small samples.
    """
    if reason := refusal(2, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    a, b = moments(candidate), moments(baseline)
    return (a.mean - b.mean) / pooled_sd(b, a)


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores")
def cohens_d_unweighted(baseline: Values, candidate: Values) -> Estimate:
    """Difference of means over sqrt((s_A^2 + s_B^2) / 2), as the DEVIATE paper defines it.

    Source: Pham et al. (2021).
    """
    if reason := refusal(2, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    a, b = moments(candidate), moments(baseline)
    return (a.mean - b.mean) / (math.hypot(a.sd, b.sd) / math.sqrt(2))


def hedges_correction(df: int) -> float:
    """Factor J that takes the small-sample bias from Cohen's d: gamma(k/2) / (sqrt(k/2) gamma((k-1)/2)).

    Source: Hedges (1981).
    """
    return math.exp(float(special.gammaln(df / 2) - special.gammaln((df - 1) / 2))) / math.sqrt(df / 2)


@statistic(n_samples=2, minimum=3, shift="ignores", scale="ignores")
def hedges_g(baseline: Values, candidate: Values) -> Estimate:
    """Cohen's d times the small-sample correction J.

    Source: Hedges (1981).
    """
    if reason := refusal(3, baseline, candidate):
        return reason
    d = cohens_d(baseline, candidate)
    return d if isinstance(d, Unavailable) else d * hedges_correction(len(baseline) + len(candidate) - 2)


@statistic(n_samples=2, minimum=3, shift="ignores", scale="ignores")
def hedges_g_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of g: the noncentralities under which the observed t is at either tail, in units of g.

    Source: Hedges (1981); noncentral t with n_A + n_B - 2 degrees of freedom.
    """
    if reason := refusal(3, baseline, candidate):
        return reason
    d = cohens_d(baseline, candidate)
    if isinstance(d, Unavailable):
        return d
    df = len(baseline) + len(candidate) - 2
    per_unit = math.sqrt(1 / len(baseline) + 1 / len(candidate))
    low = _noncentrality(d / per_unit, df, (1 + confidence) / 2)
    high = _noncentrality(d / per_unit, df, (1 - confidence) / 2)
    if low is None or high is None:
        return Unavailable("effect too large for the noncentral t")
    scale = per_unit * hedges_correction(df)
    return Interval(low * scale, high * scale, confidence, "noncentral t")


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores")
def superiority(baseline: Values, candidate: Values) -> Estimate:
    """P(candidate > baseline) + P(equal) / 2 for a run of each.

    Source: Vargha & Delaney (2000), A12 = U / (n_A n_B).
    """
    if reason := refusal(5, baseline, candidate):
        return reason
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
    ranks = rank_compare_2indep(candidate, baseline)
    se = math.sqrt(float(ranks.var) / ranks.nobs)
    half_width = float(stats.t.ppf((1 + confidence) / 2, float(ranks.df))) * se / (p * (1 - p))
    low, high = (float(special.expit(special.logit(p) + side * half_width)) for side in (-1, 1))
    return Interval(low, high, confidence, "Brunner-Munzel, logit scale")


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores")
def sd_ratio(baseline: Values, candidate: Values) -> Estimate:
    """SD of the candidate over SD of the baseline."""
    if reason := refusal(5, baseline, candidate) or ratio_refusal(baseline, candidate):
        return reason
    return moments(candidate).sd / moments(baseline).sd


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores")
def sd_ratio_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the SD ratio for normal scores.

    Source: F distribution of s_A^2 / s_B^2 with n_A - 1 and n_B - 1 degrees of freedom.
    """
    ratio = sd_ratio(baseline, candidate)
    if isinstance(ratio, Unavailable):
        return ratio
    df_a, df_b = len(candidate) - 1, len(baseline) - 1
    tail = (1 + confidence) / 2
    low = ratio / math.sqrt(float(stats.f.ppf(tail, df_a, df_b)))
    high = ratio * math.sqrt(float(stats.f.ppf(tail, df_b, df_a)))
    return Interval(low, high, confidence, "F, normal theory")


def _noncentrality(t: float, df: int, probability: float) -> float | None:
    """Noncentrality under which P(T <= t) is `probability`; None where the distribution cannot be computed."""
    if t < 0:
        mirrored = _noncentrality(-t, df, 1 - probability)
        return None if mirrored is None else -mirrored

    def excess(noncentrality: float) -> float:
        return float(stats.nct.cdf(t, df, noncentrality)) - probability

    low, high = _bracket(excess, t)
    if not (excess(low) >= 0 >= excess(high)):
        return None
    return float(optimize.brentq(excess, low, high, xtol=1e-12, rtol=1e-12))


def _bracket(excess: Callable[[float], float], start: float) -> tuple[float, float]:
    """Widen around `start` until the falling function changes sign, or cannot be computed any more."""
    step = 1.0 + start / 8
    low = high = start
    while excess(low) < 0:
        low -= step
    while excess(high) > 0:
        high += step
    return low, high
