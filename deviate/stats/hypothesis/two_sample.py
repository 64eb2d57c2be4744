"""Tests of a candidate against a baseline: means, order and distribution; all two-sided, candidate minus baseline."""

import math
from collections import Counter
from typing import Literal

import numpy as np
import scipy

from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Method, Note, Reason, listed
from deviate.stats.estimates.sample import Sample, Values, moments, never_zero, pooled_sd, refusal, without_spread
from deviate.stats.estimates.summary import t_quantile, t_test, welch_df
from deviate.stats.hypothesis.permutation import exchange_p, how
from deviate.stats.registry import statistic

MOST_EXACT = 150 * 150
"""Pairs of runs up to which scipy finds the exact distribution of U in milliseconds; of 1000 by 1000 it is NaN, after a
minute."""


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores", refuse=without_spread)
def welch(baseline: Sample, candidate: Sample) -> Test | Unavailable:
    """Welch's t-test of the difference of means; with the permutation test it decides where runs are not paired.

    Computed from moments, because `scipy.stats.ttest_ind` warns of cancellation where ours is exact enough.
    Source: Welch (1947).
    """
    b, a = moments(baseline), moments(candidate)
    return t_test(Method.WELCH_T, (a.mean - b.mean) / math.hypot(a.se, b.se), welch_df(b, a))


@statistic(n_samples=2, minimum=2, shift="ignores", scale="follows", refuse=without_spread)
def welch_interval(baseline: Sample, candidate: Sample, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the difference of means, candidate minus baseline.

    Source: Welch (1947).
    """
    b, a = moments(baseline), moments(candidate)
    half_width = t_quantile((1 + confidence) / 2, welch_df(b, a)) * math.hypot(a.se, b.se)
    difference = a.mean - b.mean
    return Interval(difference - half_width, difference + half_width, confidence, "Welch")


@statistic(n_samples=2, minimum=2, shift="ignores", scale="ignores", refuse=without_spread)
def student(baseline: Sample, candidate: Sample) -> Test | Unavailable:
    """Student's t-test with pooled variance, for comparison with older reports; it decides nothing.

    Source: Student (1908).
    """
    b, a = moments(baseline), moments(candidate)
    t = (a.mean - b.mean) / pooled_sd(b, a) / math.sqrt(1 / b.n + 1 / a.n)
    return t_test(Method.STUDENT_T, t, b.n + a.n - 2, note=Note.EQUAL_VARIANCES)


@statistic(n_samples=2, minimum=4, shift="ignores", scale="ignores", refuse=refusal)
def mann_whitney(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Mann-Whitney test of stochastic equality; the statistic is U of the candidate.

    Exact without ties up to 150 runs in each, normal beyond. With ties the ranks are permuted: all arrangements where
    there are at most 200,000 of them, else 9,999. At complete separation a single arrangement is as extreme on each
    side, whatever the ties.
    Source: Mann & Whitney (1947).
    """
    n_a, n_b = len(candidate), len(baseline)
    ranks = scipy.stats.rankdata([*candidate, *baseline])
    u = float(ranks[:n_a].sum()) - n_a * (n_a + 1) / 2
    tied = n_tied(baseline, candidate)
    if tied == n_a + n_b and len({*candidate, *baseline}) == 1:
        return Unavailable(Reason.IDENTICAL)
    ties = Note.TIES(tied) if tied else ""
    if u in (0, n_a * n_b):
        p_value = never_zero(2 / math.comb(n_a + n_b, n_a))
        # Whether ties are only within sides.
        note = listed("exact", Note.SEPARATION(n_a * n_b), Note.WITHIN_SIDES(tied) if tied else "")
    elif not tied:
        is_exact = n_a * n_b <= MOST_EXACT
        method: Literal["exact", "asymptotic"] = "exact" if is_exact else "asymptotic"
        result = scipy.stats.mannwhitneyu(candidate, baseline, alternative="two-sided", method=method)
        p_value, note = never_zero(float(result.pvalue)), "exact" if is_exact else Note.NORMAL
    else:
        # U is the rank sum up to a constant, so permuting ranks once is the test, without ranking each resample anew.
        p_value, is_exact = exchange_p(ranks, n_a, rounding=1e-6)
        note = listed(how(is_exact=is_exact), ties)
    return Test(Method.MANN_WHITNEY, u, p_value, note=note)


@statistic(n_samples=2, minimum=5, shift="ignores", scale="ignores", refuse=refusal)
def kolmogorov_smirnov(baseline: Values, candidate: Values) -> Test | Unavailable:
    """Test of equal distributions; the statistic is the largest distance of the two empirical distributions.

    Always exact: with ties, distances are looked at only where equal scores end, which is the permutation of runs
    between the sides in full.
    Source: Smirnov (1939); with ties Schröer & Trenkler (1995), as R's `ks.test(exact = TRUE)`.
    """
    n_a, n_b = len(candidate), len(baseline)
    pooled = np.array([*candidate, *baseline], dtype=np.float64)
    order = np.argsort(pooled, kind="stable")
    ends = np.append(np.diff(pooled[order]) > 0, True)  # the last score ends a group
    if not ends[:-1].any():
        return Unavailable(Reason.IDENTICAL)
    n_drawn = np.arange(1, n_a + n_b + 1)
    # In units of 1 / (n_a n_b) distances are whole numbers.
    distances = np.abs(np.cumsum(order < n_a) * (n_a + n_b) - n_drawn * n_a)
    largest = int(distances[ends].max())
    tied = n_tied(baseline, candidate)
    note = listed(Note.EXACT_PERMUTATION, Note.TIES(tied)) if tied else "exact"
    p_value = never_zero(_chance_of_distance(n_a, n_b, ends, largest))
    return Test("Kolmogorov-Smirnov", largest / (n_a * n_b), p_value, note=note)


def n_tied(*samples: Values) -> int:
    """The number of scores that equal another one."""
    return sum(n for n in Counter(value for sample in samples for value in sample).values() if n > 1)


def _chance_of_distance(n_a: int, n_b: int, ends: np.ndarray, distance: int) -> float:
    """Probability of a distance this large somewhere under random assignment of sides to sorted scores.

    The state is how many of the scores so far are of the candidate; what reaches the distance leaves it.
    """
    chosen = np.arange(n_a + 1)
    state = np.zeros(n_a + 1)
    state[0] = 1.0
    reached = 0.0
    for n_before, is_end in enumerate(ends):
        n_remaining = n_a + n_b - n_before
        to_candidate = state * ((n_a - chosen) / n_remaining)
        state -= to_candidate
        state[1:] += to_candidate[:-1]
        if is_end:
            far = np.abs(chosen * (n_a + n_b) - (n_before + 1) * n_a) >= distance
            reached += float(state[far].sum())
            state[far] = 0.0
    return reached
