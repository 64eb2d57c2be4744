"""Both tests behind a verdict: against scipy's permutation test with Welch's t, by inversion, and many at once."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from samples import sample
from scipy import stats as scipy_stats

from deviate.model.estimates import MANY_RESAMPLES, Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.compare import compare
from deviate.stats.hypothesis.both import BothTests, ask_both, both_interval, interval_of_both
from deviate.stats.hypothesis.two_sample import welch_interval
from deviate.stats.hypothesis.two_tests import Side, ask, smallest_p

ALTERNATIVES: dict[Side, str] = {"above": "greater", "below": "less"}


def asked(value: BothTests | Unavailable) -> BothTests:
    assert isinstance(value, BothTests)
    return value


def welch_t(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    variances = (it.var(axis, ddof=1) / it.shape[axis] for it in (x, y))
    return (x.mean(axis) - y.mean(axis)) / np.sqrt(sum(variances))


def size_of_t(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.abs(welch_t(x, y, axis))


@pytest.mark.parametrize("null", [0.0, 1.3])
@pytest.mark.parametrize(("n_b", "n_a"), [(4, 4), (5, 8), (7, 6), (9, 4)])
def test_few_arrangements_are_all_taken_as_scipy_takes_them(n_b: int, n_a: int, null: float) -> None:
    draws = np.random.default_rng(n_b + n_a)
    b, a = draws.normal(90, 1, n_b), draws.normal(91, 3, n_a)
    both = asked(ask_both(b.tolist(), a.tolist(), null=null))
    expected = scipy_stats.permutation_test((a - null, b), size_of_t, alternative="greater", n_resamples=10**6)
    assert both.permutation.p_value == pytest.approx(float(expected.pvalue))
    welch = scipy_stats.ttest_ind(a - null, b, equal_var=False)
    assert (both.t_test.statistic, both.t_test.p_value) == pytest.approx((welch.statistic, welch.pvalue))
    assert both.permutation.note == "exact permutation"
    for side, alternative in ALTERNATIVES.items():
        one = asked(ask_both(b.tolist(), a.tolist(), null=null, side=side))
        tail = scipy_stats.permutation_test((a - null, b), welch_t, alternative=alternative, n_resamples=10**6)
        assert one.permutation.p_value == pytest.approx(float(tail.pvalue))


@pytest.mark.parametrize("null", [0.0, 0.4])
def test_pairs_flip_all_signs_as_scipy_flips_them(null: float) -> None:
    b = np.random.default_rng(1).normal(0, 1, 9)
    a = b + np.random.default_rng(2).exponential(1, 9)
    both = asked(ask_both(b.tolist(), a.tolist(), null=null, is_paired=True))

    def size(x: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.abs(x.mean(axis))

    flips = {"permutation_type": "samples", "n_resamples": 10**6}
    expected = scipy_stats.permutation_test((a - b - null,), size, alternative="greater", **flips)
    assert both.permutation.p_value == pytest.approx(float(expected.pvalue))
    assert both.t_test.p_value == pytest.approx(scipy_stats.ttest_rel(a - null, b).pvalue)
    for side, alternative in ALTERNATIVES.items():
        tail = scipy_stats.permutation_test((a - b - null,), np.mean, alternative=alternative, **flips)
        one = asked(ask_both(b.tolist(), a.tolist(), null=null, side=side, is_paired=True))
        assert one.permutation.p_value == pytest.approx(float(tail.pvalue))


@pytest.mark.parametrize(("n_b", "n_a"), [(20, 20), (6, 60)])
def test_many_arrangements_are_sampled_and_count_what_was_observed(n_b: int, n_a: int) -> None:
    draws = np.random.default_rng(3)
    b, a = draws.normal(0, 1, n_b), draws.normal(0.7, 1, n_a)
    both = asked(ask_both(b.tolist(), a.tolist()))
    expected = scipy_stats.permutation_test(
        (a, b), size_of_t, alternative="greater", n_resamples=50_000, rng=np.random.default_rng(0), batch=5000
    ).pvalue
    assert both.permutation.p_value == pytest.approx(float(expected), abs=both.permutation.p_error + 0.004)
    assert both.permutation.p_error == pytest.approx(3 * math.sqrt(expected * (1 - expected) / 9999), rel=0.3)
    far = asked(ask_both(b.tolist(), (a + 100).tolist())).permutation
    assert far.p_value == pytest.approx(1 / 10_000)


def test_a_p_that_is_near_alpha_takes_more_arrangements() -> None:
    draws = np.random.default_rng(0)
    b = draws.normal(0, 1, 20)
    notes = set()
    for shift in np.linspace(0.5, 0.8, 31):
        a = draws.permutation(b) + shift
        both = asked(ask_both(b.tolist(), a.tolist()))
        notes.add(both.permutation.note)
        is_near = "99999" in both.permutation.note
        expected = 3 * math.sqrt(both.permutation.p_value * (1 - both.permutation.p_value))
        assert both.permutation.p_error == pytest.approx(expected / math.sqrt(MANY_RESAMPLES if is_near else 9999))
        assert is_near or abs(both.permutation.p_value - 0.05) > 0.005 or both.t_test.p_value >= 0.05
    assert notes == {"permutation, 9999 resamples", "permutation, 99999 resamples"}


def test_equal_sums_of_decimal_scores_are_equal_whatever_floats_make_of_them() -> None:
    """As whole hundredths, 24 of the 252 arrangements are as extreme; as floats, sums of the same scores differ."""
    b, a = [0.9, 0.9, 0.91, 0.9, 0.92], [0.91, 0.91, 0.92, 0.93, 0.93]
    assert asked(ask_both(b, a)).permutation.p_value == pytest.approx(24 / 252)
    far = [[1e6 + x for x in side] for side in (b, a)]
    assert asked(ask_both(far[0], far[1])).permutation.p_value == pytest.approx(24 / 252)


def test_an_arrangement_without_spread_counts_as_far_out_unless_both_sides_are_equal() -> None:
    """Of 2 + 4 runs at 0 and 3 + 1 at 1 the arrangement that puts all equal ones together has an infinite t."""
    b, a = [0.0, 0, 1, 1, 1, 0], [1.0, 1, 1, 1]
    values = np.array([*a, *b])
    observed = float(welch_t(values[:4], values[4:]))
    extreme = 0
    for chosen in itertools.combinations(range(10), 4):
        x, y = values[list(chosen)], np.delete(values, chosen)
        variance = x.var(ddof=1) / 4 + y.var(ddof=1) / 6
        difference = abs(x.mean() - y.mean())
        t = difference / math.sqrt(variance) if variance > 1e-15 else (math.inf if difference > 1e-15 else 0.0)
        extreme += t >= abs(observed) - 1e-9
    assert asked(ask_both(b, a)).permutation.p_value == pytest.approx(extreme / 210)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize(("n_b", "n_a", "is_paired"), [(8, 8, False), (5, 12, False), (12, 5, False), (9, 9, True)])
def test_the_interval_holds_what_not_both_tests_reject(
    n_b: int, n_a: int, *, is_paired: bool, confidence: float
) -> None:
    for seed in range(4):
        draws = np.random.default_rng(seed)
        b, a = np.exp(draws.normal(0, 1, n_b)).tolist(), (1 + np.exp(draws.normal(0, 1, n_a))).tolist()
        interval = interval_of_both(b, a, confidence=confidence, is_paired=is_paired)
        assert isinstance(interval, Interval)
        step = (interval.high - interval.low) / 1000
        for null, is_rejected in (
            (interval.low - step, True),
            (interval.low + step, False),
            (interval.high - step, False),
            (interval.high + step, True),
        ):
            both = asked(ask_both(b, a, null=null, confidence=confidence, is_paired=is_paired))
            assert (both.p < 1 - confidence) == is_rejected
        bounds = interval_of_both(b, a, confidence=2 * confidence - 1, side="above", is_paired=is_paired)
        assert isinstance(bounds, Interval)
        for null, side in ((bounds.low - step, "above"), (bounds.high + step, "below")):
            assert asked(ask_both(b, a, null=null, side=side, is_paired=is_paired)).p < 1 - confidence
        for null, side in ((bounds.low + step, "above"), (bounds.high - step, "below")):
            assert asked(ask_both(b, a, null=null, side=side, is_paired=is_paired)).p >= 1 - confidence


def test_with_normal_scores_the_interval_is_hardly_wider_than_welchs() -> None:
    b, a = sample(0, 1, 10), sample(1, 1, 10)
    both, welch = both_interval(b, a), welch_interval(b, a)
    assert isinstance(both, Interval)
    assert isinstance(welch, Interval)
    assert welch.high - welch.low <= both.high - both.low < 1.1 * (welch.high - welch.low)


def test_a_level_that_no_arrangement_reaches_has_no_interval() -> None:
    b, a = sample(0, 1, 5), sample(9, 1, 5)
    assert smallest_p(5, 5) == pytest.approx(2 / 252)
    assert smallest_p(6, 6, is_paired=True) == pytest.approx(2 / 64)
    assert both_interval(b, a, confidence=0.999) == Unavailable(Reason.SMALLEST_P(2 / 252, 1 - 0.999))


def test_neither_the_order_of_runs_nor_shift_nor_scale_changes_a_p() -> None:
    draws = np.random.default_rng(8)
    b, a = draws.normal(0, 1, 12), draws.normal(0.5, 1, 25)
    first = asked(ask_both(b.tolist(), a.tolist()))
    for change in (draws.permutation, lambda x: x + 1e6, lambda x: x * 1e-7, lambda x: x * 1e100):
        other = asked(ask_both(change(b).tolist(), change(a).tolist()))
        assert other.permutation.p_value == pytest.approx(first.permutation.p_value, abs=2e-4)
        assert other.t_test.p_value == pytest.approx(first.t_test.p_value, rel=1e-6)


SCORES = {
    "normal": lambda draws, n: draws.normal(0.6, 1, n),
    "collapsed": lambda draws, n: np.where(draws.random(n) < 0.1, -80.0, 0.0) + draws.normal(0, 1, n),
    "grid": lambda draws, n: np.round(draws.normal(0.9, 0.01, n), 2),
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize(("n_b", "n_a"), [(5, 5), (5, 12), (40, 5)])
def test_many_comparisons_at_once_give_the_words_of_compare(name: str, n_b: int, n_a: int) -> None:
    draws = np.random.default_rng(5)
    b, a = SCORES[name](draws, (12, n_b)), SCORES[name](draws, (12, n_a))
    a[6:] += 2 * a.std()
    answer = ask(b, a, alpha=0.05, is_decision_only=True)
    for i in range(12):
        verdict = compare(b[i].tolist(), a[i].tolist(), rng=np.random.default_rng(i), direction="max").verdict
        word = "undecided" if answer.p_upper[i] >= 0.05 else "better" if answer.sign[i] > 0 else "worse"
        is_constant = min(len(set(side[i])) for side in (b, a)) == 1  # one observation, which is not tested
        assert verdict.word in ({"undecided", "identical"} if is_constant else {word})


def test_no_verdict_depends_on_the_seed_of_the_analysis() -> None:
    draws = np.random.default_rng(6)
    for _ in range(5):
        b, a = draws.normal(0, 1, 15).tolist(), draws.normal(0.73, 1, 30).tolist()
        found = {
            dataclasses.astuple(compare(b, a, rng=np.random.default_rng(seed), direction="max").verdict)
            for seed in range(3)
        }
        assert len(found) == 1


@pytest.mark.parametrize(("n_b", "n_a"), [(40, 5), (40, 10)])
def test_runs_of_one_distribution_of_which_a_tenth_collapses_are_seldom_called_different(n_b: int, n_a: int) -> None:
    """Welch alone calls a third of 40 v 5 runs different, and a fifth of 40 v 10."""
    draws = np.random.default_rng(7)
    b, a = (np.where(draws.random((1000, n)) < 0.1, -80.0, 0.0) + draws.normal(0, 1, (1000, n)) for n in (n_b, n_a))
    answer = ask(b, a, alpha=0.05, is_decision_only=True)
    assert np.mean(answer.welch < 0.05) > 0.15
    assert np.mean(answer.p_upper < 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.parametrize(("n_b", "n_a"), [(5, 5), (5, 20), (20, 5)])
def test_unequal_spread_is_left_to_welch(n_b: int, n_a: int) -> None:
    draws = np.random.default_rng(8)
    b, a = draws.normal(0, 3, (1000, n_b)), draws.normal(0, 1, (1000, n_a))
    answer = ask(b, a, alpha=0.05, is_decision_only=True)
    assert np.mean(answer.p_upper < 0.05) <= 0.07 + 3 * math.sqrt(0.07 * 0.93 / 1000)


@pytest.mark.parametrize(("n", "both", "welch"), [(5, 0.495, 0.531), (8, 0.794, 0.804)])
def test_power_at_one_and_a_half_sd_is_that_of_the_contract(n: int, both: float, welch: float) -> None:
    draws = np.random.default_rng(9)
    answer = ask(draws.normal(0, 1, (3000, n)), draws.normal(1.5, 1, (3000, n)), alpha=0.05, is_decision_only=True)
    assert np.mean(answer.p_upper < 0.05) == pytest.approx(both, abs=0.03)
    assert np.mean(answer.welch < 0.05) == pytest.approx(welch, abs=0.03)
