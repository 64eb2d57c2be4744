"""Tests of a candidate against a baseline: means, order and spread; all two-sided, candidate minus baseline."""

import math
from collections import Counter

import numpy as np
from scipy import stats

from deviate.model import Interval, Test, Unavailable
from deviate.stats.sample import (
    Moments,
    Values,
    moments,
    pooled_sd,
    ratio_refusal,
    refusal,
    resolution,
    spread_refusal,
)

N_RESAMPLES = 9999


def welch(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Welch's t-test of the difference of means; it decides every verdict.

    Computed from moments, because `scipy.stats.ttest_ind` warns of cancellation where ours is exact enough.
    Source: Welch (1947).
    """
    if reason := refusal(2, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    a, b = moments(candidate), moments(baseline)
    df = _welch_df(a, b)
    return _t_test("Welch t", (a.mean - b.mean) / math.hypot(a.se, b.se), df)


def welch_interval(baseline: Values, candidate: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the difference of means, candidate minus baseline.

    Source: Welch (1947).
    """
    if reason := refusal(2, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    a, b = moments(candidate), moments(baseline)
    half_width = float(stats.t.ppf((1 + confidence) / 2, _welch_df(a, b))) * math.hypot(a.se, b.se)
    difference = a.mean - b.mean
    return Interval(difference - half_width, difference + half_width, confidence, "Welch")


def student(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Student's t-test with pooled variance, for comparison with older reports; it decides nothing.

    Source: Student (1908).
    """
    if reason := refusal(2, baseline, candidate) or spread_refusal(baseline, candidate):
        return reason
    a, b = moments(candidate), moments(baseline)
    se = pooled_sd(b, a) * math.sqrt(1 / a.n + 1 / b.n)
    return _t_test("Student t", (a.mean - b.mean) / se, a.n + b.n - 2, note="equal variances assumed")


def mann_whitney(baseline: Values, candidate: Values, *, rng: np.random.Generator) -> Test | Unavailable:
    """Mann-Whitney test of stochastic equality; the statistic is U of the candidate.

    Exact without ties. With ties the ranks are permuted: all arrangements where there are at most 9999 of them, else
    a sample. At complete separation a single arrangement is as extreme on each side, whatever the ties.
    Source: Mann & Whitney (1947).
    """
    if reason := refusal(4, baseline, candidate):
        return reason
    n_a, n_b = len(candidate), len(baseline)
    ranks = stats.rankdata([*candidate, *baseline])
    u = float(ranks[:n_a].sum()) - n_a * (n_a + 1) / 2
    tied = sum(n for n in Counter([*candidate, *baseline]).values() if n > 1)
    if tied == n_a + n_b and len({*candidate, *baseline}) == 1:
        return Unavailable("identical")
    notes = [f"{tied} ties"] if tied else []
    if u in (0, n_a * n_b):
        p_value = min(1.0, 2 / math.comb(n_a + n_b, n_a))
        notes = ["exact", f"complete separation, {min(u, n_a * n_b - u):g} of {n_a * n_b} pairs against", *notes]
    elif not tied:
        p_value = float(stats.mannwhitneyu(candidate, baseline, alternative="two-sided", method="exact").pvalue)
        notes = ["exact"]
    else:
        # U is the rank sum up to a constant, so permuting ranks once is the test, without ranking each resample anew.
        p_value = float(
            stats.permutation_test(
                (ranks[:n_a], ranks[n_a:]),
                lambda x, _y, axis: x.sum(axis=axis),
                vectorized=True,
                n_resamples=N_RESAMPLES,
                rng=rng,
            ).pvalue
        )
        is_exact = math.comb(n_a + n_b, n_a) <= N_RESAMPLES
        notes = ["exact permutation" if is_exact else f"permutation, {N_RESAMPLES} resamples", *notes]
    return Test("Mann-Whitney U", u, p_value, note=", ".join(notes))


def brown_forsythe(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Test of equal spread: analysis of variance of the distances from the medians.

    Needs 10 runs in each: below, it rejects far too seldom to say anything.
    Source: Brown & Forsythe (1974).
    """
    if reason := refusal(10, baseline, candidate) or ratio_refusal(baseline, candidate):
        return reason
    # The statistic has no scale; distances in units of the pooled spread keep its squares in the range of floats.
    scale = pooled_sd(moments(baseline), moments(candidate))
    groups = [(np.asarray(values) - float(np.median(values))) / scale for values in (candidate, baseline)]
    accuracy = resolution([*candidate, *baseline]) / scale
    if all(float(np.ptp(np.abs(group))) <= accuracy for group in groups):
        return Unavailable("all values equally far from their median")
    result = stats.levene(*groups, center="median")
    return Test(
        "Brown-Forsythe", float(result.statistic), _never_zero(float(result.pvalue)), len(baseline) + len(candidate) - 2
    )


def _welch_df(a: Moments, b: Moments) -> float:
    """Degrees of freedom of Welch and Satterthwaite, from the shares of the two standard errors."""
    total = math.hypot(a.se, b.se)
    share_a, share_b = (a.se / total) ** 2, (b.se / total) ** 2
    return 1 / (share_a**2 / (a.n - 1) + share_b**2 / (b.n - 1))


def _t_test(name: str, statistic: float, df: float, note: str = "") -> Test:
    return Test(name, statistic, _never_zero(2 * float(stats.t.sf(abs(statistic), df))), df, note)


def _never_zero(p_value: float) -> float:
    """A p of 0 is below the range of floats, not impossible: the smallest positive float stands for it."""
    return max(p_value, float(np.finfo(float).tiny))
