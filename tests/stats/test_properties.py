"""What holds for all scores: order, shift, scale, exchange of the sides, and agreement with scipy and statsmodels."""

import math
from collections.abc import Sequence
from typing import SupportsFloat

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats
from statsmodels.stats import nonparametric, power

from deviate.model.comparisons import Comparison
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.stats.compare import compare
from deviate.stats.describe import describe
from deviate.stats.design.power import arrangement_loss, detectable_effect
from deviate.stats.estimates.effect import cohens_d, hedges_correction, hedges_g_interval
from deviate.stats.hypothesis.two_sample import mann_whitney

Scores = Sequence[float]
# Dyadic numbers of moderate size: shifts and scales by powers of two lose no bits.
scores = st.lists(st.integers(-2000, 2000).map(lambda k: k / 16), min_size=5, max_size=12)
quick = settings(max_examples=30, deadline=None)


def compared(before: Scores, after: Scores) -> Comparison:
    return compare(list(before), list(after), rng=np.random.default_rng(0))


def value(estimate: float | Unavailable) -> float:
    assert isinstance(estimate, float)
    return estimate


@quick
@given(scores, st.randoms(use_true_random=False))
def test_order_of_runs_changes_no_number(values: list[float], random: np.random.Generator) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    one, other = describe(values), describe(shuffled)
    for part in ("mean", "sd", "sd_interval", "mean_interval", "cv", "median", "minimum", "maximum", "range", "note"):
        assert getattr(one, part) == getattr(other, part)


@quick
@given(scores, scores, st.integers(-64, 64))
def test_a_shift_of_all_scores_changes_no_comparison(before: list[float], after: list[float], shift: int) -> None:
    one, other = compared(before, after), compared([x + shift for x in before], [x + shift for x in after])
    assert value(other.difference) == pytest.approx(value(one.difference), abs=1e-9)
    if isinstance(one.welch, Test):
        assert isinstance(other.welch, Test)
        assert other.welch.p_value == pytest.approx(one.welch.p_value, rel=1e-6)
        assert value(other.hedges_g) == pytest.approx(value(one.hedges_g), rel=1e-6, abs=1e-9)
        assert value(other.detectable) == pytest.approx(value(one.detectable), rel=1e-6)
    assert other.superiority == one.superiority
    assert other.verdict.word == one.verdict.word


@quick
@given(scores, scores, st.sampled_from([2.0**-10, 0.5, 4.0, 1024.0]))
def test_a_scale_multiplies_differences_and_nothing_else(before: list[float], after: list[float], scale: float) -> None:
    one, other = compared(before, after), compared([x * scale for x in before], [x * scale for x in after])
    assert value(other.difference) == pytest.approx(scale * value(one.difference), abs=1e-12)
    assert other.mann_whitney == one.mann_whitney
    if isinstance(one.welch, Test):
        assert isinstance(other.welch, Test)
        assert other.welch.p_value == pytest.approx(one.welch.p_value, rel=1e-9)
        assert value(other.cohens_d) == pytest.approx(value(one.cohens_d), rel=1e-9, abs=1e-12)
        assert value(other.detectable) == pytest.approx(scale * value(one.detectable), rel=1e-9)
    if isinstance(one.sd_ratio, float):
        assert value(other.sd_ratio) == pytest.approx(one.sd_ratio, rel=1e-9)


@quick
@given(scores, scores)
def test_exchanged_sides_negate_differences_and_invert_ratios(before: list[float], after: list[float]) -> None:
    one, other = compared(before, after), compared(after, before)
    assert value(other.difference) == -value(one.difference)
    assert value(other.superiority) == pytest.approx(1 - value(one.superiority))
    if isinstance(one.welch, Test):
        assert isinstance(other.welch, Test)
        assert isinstance(one.difference_interval, Interval)
        assert isinstance(other.difference_interval, Interval)
        assert other.welch.p_value == pytest.approx(one.welch.p_value, rel=1e-9)
        assert other.difference_interval.low == pytest.approx(-one.difference_interval.high, rel=1e-9, abs=1e-9)
        assert value(other.hedges_g) == pytest.approx(-value(one.hedges_g), rel=1e-9)
    for left, right in ((one.hedges_g_interval, other.hedges_g_interval),):
        if isinstance(left, Interval):
            assert isinstance(right, Interval)
            assert right.low == pytest.approx(-left.high, rel=1e-6, abs=1e-9)
    if isinstance(one.sd_ratio_interval, Interval):
        assert isinstance(other.sd_ratio_interval, Interval)
        assert other.sd_ratio_interval.low == pytest.approx(1 / one.sd_ratio_interval.high, rel=1e-9)
        assert value(other.sd_ratio) == pytest.approx(1 / value(one.sd_ratio), rel=1e-9)


@quick
@given(scores, scores)
def test_every_estimate_lies_in_its_interval(before: list[float], after: list[float]) -> None:
    result = compared(before, after)
    for estimate, interval in (
        (result.difference, result.difference_interval),
        (result.hedges_g, result.hedges_g_interval),
        (result.sd_ratio, result.sd_ratio_interval),
        (result.superiority, result.superiority_interval),
        (result.baseline.mean, result.baseline.mean_interval),
        (result.baseline.sd, result.baseline.sd_interval),
    ):
        if isinstance(interval, Interval):
            assert interval.low <= value(estimate) <= interval.high


def exactly(number: SupportsFloat) -> object:
    """Equal up to rounding."""
    return pytest.approx(float(number), rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("n_before", "n_after"), [(5, 9), (8, 8), (20, 12)])
def test_numbers_equal_those_of_scipy_and_statsmodels(seed: int, n_before: int, n_after: int) -> None:
    draws = np.random.default_rng(seed)
    b, a = draws.normal(90, 1, n_before), draws.normal(91, 3, n_after)
    result = compared(b.tolist(), a.tolist())
    welch = scipy_stats.ttest_ind(a, b, equal_var=False)
    student = scipy_stats.ttest_ind(a, b, equal_var=True)
    ranks = scipy_stats.mannwhitneyu(a, b, alternative="two-sided", method="exact")
    assert isinstance(result.welch, Test)
    assert isinstance(result.student, Test)
    assert isinstance(result.mann_whitney, Test)
    assert isinstance(result.difference_interval, Interval)
    assert isinstance(result.superiority_interval, Interval)
    assert (result.welch.statistic, result.welch.p_value) == (exactly(welch.statistic), exactly(welch.pvalue))
    assert result.welch.df == exactly(welch.df)
    assert (result.student.statistic, result.student.p_value) == (exactly(student.statistic), exactly(student.pvalue))
    assert (result.mann_whitney.statistic, result.mann_whitney.p_value) == (
        exactly(ranks.statistic),
        exactly(ranks.pvalue),
    )
    expected = welch.confidence_interval(0.95)
    assert isinstance(result.welch_interval, Interval)
    assert result.welch_interval.low == exactly(expected.low)
    assert result.welch_interval.high == exactly(expected.high)
    assert result.difference_interval.low <= expected.low + 1e-9
    assert result.difference_interval.high >= expected.high - 1e-9
    superior = nonparametric.rank_compare_2indep(a, b)
    assert result.superiority == exactly(superior.prob1)
    assert result.superiority_interval.low < superior.prob1 < result.superiority_interval.high
    description = result.baseline
    assert description.mean == exactly(b.mean())
    assert description.sd == exactly(b.std(ddof=1))
    assert description.median == exactly(np.median(b))
    assert description.range == exactly(np.ptp(b))
    assert isinstance(description.mean_interval, Interval)
    low, high = scipy_stats.t.interval(0.95, n_before - 1, b.mean(), scipy_stats.sem(b))
    assert (description.mean_interval.low, description.mean_interval.high) == (exactly(low), exactly(high))
    if min(n_before, n_after) >= 10:
        levene = scipy_stats.levene(a, b, center="median")
        assert isinstance(result.brown_forsythe, Test)
        assert result.brown_forsythe.statistic == exactly(levene.statistic)
        assert result.brown_forsythe.p_value == exactly(levene.pvalue)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n_before", "n_after"), [(6, 7), (8, 8)])
def test_permuting_ranks_once_is_scipys_permutation_of_u(seed: int, n_before: int, n_after: int) -> None:
    """With 6 and 7 runs there are 1716 arrangements, which both take; with 8 and 8 ours is a sample of 12870."""
    draws = np.random.default_rng(seed)
    b, a = draws.integers(0, 6, n_before) / 10, draws.integers(1, 7, n_after) / 10
    ours = mann_whitney(b.tolist(), a.tolist())
    every = scipy_stats.PermutationMethod(n_resamples=math.comb(n_before + n_after, n_after))
    theirs = float(scipy_stats.mannwhitneyu(a, b, alternative="two-sided", method=every).pvalue)
    assert isinstance(ours, Test)
    if n_before == 6:
        assert ours.p_value == pytest.approx(theirs)
        assert ours.note.startswith("exact permutation")
    else:
        # p is twice a tail that is counted in a sample; its standard error is that of a share, doubled.
        tail = theirs / 2
        assert ours.p_value == pytest.approx(theirs, abs=8 * math.sqrt(tail * (1 - tail) / 9999) + 2e-4)


@pytest.mark.parametrize(("n_before", "n_after"), [(2, 2), (3, 5), (8, 8), (30, 10), (100, 100)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_detectable_effect_is_that_of_statsmodels(n_before: int, n_after: int, confidence: float) -> None:
    expected = power.TTestIndPower().solve_power(
        nobs1=n_before, ratio=n_after / n_before, alpha=1 - confidence, power=0.8
    )
    loss = arrangement_loss(n_before, n_after, 1 - confidence)
    assert detectable_effect(n_before, n_after, confidence=confidence) == pytest.approx(loss * expected, rel=1e-4)


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_power_at_the_detectable_effect_is_eighty_percent_by_quadrature(n: int) -> None:
    """P(T > c) is the mean of Phi(noncentrality - c sqrt(v / df)) over chi-square v; statsmodels fails for n = 2."""
    effect = detectable_effect(n, n, confidence=0.99) / arrangement_loss(n, n, 0.01)
    df, noncentrality = 2 * n - 2, effect * math.sqrt(n / 2)
    critical = float(scipy_stats.t.ppf(0.995, df))
    power_found, _ = integrate.quad(
        lambda v: scipy_stats.norm.cdf(noncentrality - critical * math.sqrt(v / df)) * scipy_stats.chi2.pdf(v, df),
        0,
        df + 100,
        limit=200,
    )
    assert power_found == pytest.approx(0.8, abs=1e-6)


@quick
@given(st.floats(-30, 30), st.integers(3, 40), st.integers(3, 40))
def test_ends_of_the_effect_interval_put_the_observed_t_at_the_tails(d: float, n_before: int, n_after: int) -> None:
    assume(abs(d) > 1e-6)
    b = [float(i) for i in range(n_before)]
    a = [float(i) + d * n_before for i in range(n_after)]
    interval, effect = hedges_g_interval(b, a), cohens_d(b, a)
    assume(isinstance(interval, Interval))
    assert isinstance(interval, Interval)
    df, unit = n_before + n_after - 2, math.sqrt(1 / n_before + 1 / n_after)
    for end, tail in ((interval.low, 0.975), (interval.high, 0.025)):
        noncentrality = end / unit / (hedges_correction(df) if df >= 14 else 1)
        assert scipy_stats.nct.cdf(value(effect) / unit, df, noncentrality) == pytest.approx(tail, abs=1e-6)
