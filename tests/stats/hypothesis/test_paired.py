import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from samples import experiment, metric, run
from scipy import stats as scipy_stats
from statsmodels.stats import power

from deviate.model.comparisons import Comparison, Description, Paired
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Experiment
from deviate.report.verdicts import verdict_reason
from deviate.stats.compare import compare
from deviate.stats.describe import describe_runs
from deviate.stats.design.power import (
    arrangement_loss,
    detectable_difference,
    detectable_effect,
    detectable_interval,
    detectable_paired,
    detectable_paired_interval,
    runs_needed,
)
from deviate.stats.hypothesis import paired
from deviate.stats.hypothesis.both import paired_both_interval, sign_flip_test
from deviate.stats.hypothesis.paired import compare_pairs, paired_interval, paired_t, pairing_cost, wilcoxon
from deviate.stats.hypothesis.two_sample import welch
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions


def fresh() -> np.random.Generator:
    return np.random.default_rng(0)


def outcome(value: Test | Unavailable) -> Test:
    assert isinstance(value, Test)
    return value


def pairs(n: int, correlation: float, shift: float = 0.5, seed: int = 0) -> tuple[list[float], list[float]]:
    draws = np.random.default_rng(seed)
    shared, own = draws.normal(0, 1, n), draws.normal(0, 1, (2, n))
    b, a = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
    return b.tolist(), (a + shift).tolist()


def described(scores: dict[int, float], crashed: Sequence[int] = ()) -> Description:
    acc = metric("acc")
    runs = [run(i, {"acc": [value]}) for i, value in scores.items()]
    runs += [run(i, {"acc": [0.1]}, "crashed") for i in crashed]
    return describe_runs(experiment("a", [acc], {}, runs=runs), acc)


def imported(name: str, scores: dict[int, float]) -> Experiment:
    """Runs as found in a file with a column of seeds, numbered in their order there."""
    runs = [
        replace(run(place, {"acc": [value]}), seeds={"seed": seed})
        for place, (seed, value) in enumerate(scores.items())
    ]
    return replace(experiment(name, [metric("acc")], {}, runs=runs), imported=(f"from {name}.csv",))


def test_imported_runs_pair_by_their_seeds_wherever_they_stand_in_the_file() -> None:
    before = imported("a", {seed: 0.5 + seed / 100 for seed in range(8)})
    after = imported("b", {seed: 0.6 + seed / 100 for seed in (9, 8, 7, 6, 5, 4, 3, 2)})
    comparison = judge([before, after], AnalysisOptions(is_paired=True)).pairs[0].comparisons[0]
    assert isinstance(comparison.paired, Paired)
    assert comparison.paired.n == 6
    assert comparison.difference == pytest.approx(0.1)
    assert len(comparison.paired.unpaired) == 4
    assert comparison.paired.correlation == pytest.approx(1)


def test_runs_of_deviate_pair_by_their_replicate() -> None:
    before = experiment("a", [metric("acc")], {"acc": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]})
    after = replace(before, name="b", runs=before.runs[:-1])
    comparison = judge([before, after], AnalysisOptions(is_paired=True)).pairs[0].comparisons[0]
    assert isinstance(comparison.paired, Paired)
    assert comparison.paired.unpaired == (5,)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [5, 8, 25])
def test_paired_figures_are_those_of_scipy(n: int, seed: int) -> None:
    b, a = pairs(n, 0.6, seed=seed)
    expected = scipy_stats.ttest_rel(a, b)
    test, interval = outcome(paired_t(b, a)), paired_interval(b, a)
    ends = expected.confidence_interval(0.95)
    assert (test.statistic, test.p_value, test.df) == pytest.approx((expected.statistic, expected.pvalue, n - 1))
    assert isinstance(interval, Interval)
    assert (interval.low, interval.high) == pytest.approx((ends.low, ends.high))
    assert paired.correlation(b, a) == pytest.approx(scipy_stats.pearsonr(b, a).statistic)
    ranks = scipy_stats.wilcoxon(a, b, method="exact", alternative="two-sided")
    signed = outcome(wilcoxon(b, a))
    assert signed.p_value == pytest.approx(float(ranks.pvalue))
    assert min(signed.statistic, n * (n + 1) / 2 - signed.statistic) == float(ranks.statistic)
    assert signed.note == "exact"


@pytest.mark.parametrize(("n", "p_value"), [(5, 0.0625), (6, 0.03125), (8, 0.0078125), (10, 0.001953125)])
def test_smallest_possible_p_of_signed_ranks(n: int, p_value: float) -> None:
    found = outcome(wilcoxon([0.0] * n, [float(i + 1) for i in range(n)]))
    assert found.p_value == pytest.approx(p_value)


def test_ties_and_zeros_are_every_flip_of_signs() -> None:
    differences = [1, 1, -2, 3, 3, 3, 0, 5, -1, 4]
    kept = [d for d in differences if d]
    ranks = scipy_stats.rankdata(np.abs(kept))
    observed = ranks[np.array(kept) > 0].sum()
    sums = np.array([ranks @ flips for flips in itertools.product([0, 1], repeat=len(kept))])
    expected = 2 * min(np.mean(sums >= observed), np.mean(sums <= observed))
    found = outcome(wilcoxon([0.0] * 10, [float(d) for d in differences]))
    assert (found.statistic, found.p_value) == pytest.approx((observed, expected))
    assert found.note == "exact permutation, 1 zero, 6 ties"


def test_differences_that_only_rounding_tells_apart_are_tied() -> None:
    """0.93 - 0.91 and 0.03 - 0.01 are two floats, about 0.02."""
    b, a = [0.91, 0.90, 0.01, 0.5, 0.2], [0.93, 0.92, 0.03, 0.6, 0.5]
    assert len({x - y for x, y in zip(a[:3], b[:3], strict=True)}) == 2
    assert outcome(wilcoxon(b, a)).note == "exact permutation, 3 ties"


def test_many_flips_are_sampled_and_come_near_to_the_exact_p() -> None:
    draws = np.random.default_rng(3)
    b = draws.integers(0, 8, 25)
    a = b + draws.integers(-2, 5, 25)
    found = outcome(wilcoxon(b.tolist(), a.tolist()))
    assert found.note.startswith("permutation, 9999 resamples, ")
    expected = scipy_stats.wilcoxon(a, b, method=scipy_stats.PermutationMethod(n_resamples=20_000, rng=fresh()))
    assert found.p_value == pytest.approx(float(expected.pvalue), abs=0.015)


def test_pairs_share_their_replicate_and_those_that_lost_a_half_are_listed() -> None:
    before = described({0: 1.0, 1: 2.0, 2: 4.0, 4: 3.0, 5: 6.0}, crashed=[3])
    after = described({5: 8.0, 4: 3.5, 3: 9.0, 2: 5.0, 0: 1.5}, crashed=[1])
    found = compare_pairs(before, after)
    assert (found.n, found.unpaired) == (4, (1, 3))
    assert found.difference == pytest.approx(np.mean([0.5, 1.0, 0.5, 2.0]))
    assert found.correlation == Unavailable(Reason.TOO_FEW(5, "pair", 4))
    assert found.t_test == paired_t([1.0, 4.0, 3.0, 6.0], [1.5, 5.0, 3.5, 8.0])


def test_the_order_of_pairs_changes_nothing_but_who_is_whose_partner_does() -> None:
    b, a = pairs(9, 0.8)
    assert paired_t(b[::-1], a[::-1]) == paired_t(b, a)
    assert paired_t(b, a[::-1]) != paired_t(b, a)


@pytest.mark.parametrize(("n", "confidence"), [(6, 0.95), (20, 0.9)])
def test_what_pairs_could_see_is_that_of_statsmodels(n: int, confidence: float) -> None:
    """Times what the sign flips cost."""
    expected = power.TTestPower().solve_power(nobs=n, alpha=1 - confidence, power=0.8)
    expected *= arrangement_loss(n, n, 1 - confidence, is_paired=True)
    assert detectable_effect(n, n, is_paired=True, confidence=confidence) == pytest.approx(expected, rel=1e-4)
    b, a = pairs(n, 0.5)
    sd = np.std(np.array(a) - b, ddof=1)
    assert detectable_paired(b, a, confidence=confidence) == pytest.approx(expected * sd, rel=1e-4)


def test_pairs_needed_are_the_fewest_that_see_the_difference() -> None:
    b, a = pairs(12, 0.5)
    n = runs_needed(0.7, b, a, is_paired=True)
    assert isinstance(n, int)
    sd = float(np.std(np.array(a) - b, ddof=1))
    assert detectable_effect(n, n, is_paired=True) * sd <= 0.7 < detectable_effect(n - 1, n - 1, is_paired=True) * sd


def test_the_range_of_a_detectable_difference_is_that_of_its_sd() -> None:
    b, a = pairs(10, 0.5)
    for size, around, df in (
        (detectable_difference(b, a), detectable_interval(b, a), 18),
        (detectable_paired(b, a), detectable_paired_interval(b, a), 9),
    ):
        assert isinstance(size, float)
        assert isinstance(around, Interval)
        low, high = (size * np.sqrt(df / scipy_stats.chi2.ppf(tail, df)) for tail in (0.975, 0.025))
        assert (around.low, around.high) == pytest.approx((low, high))


def test_pairing_that_cost_power_is_said_with_its_correlation() -> None:
    def cost(correlation: float) -> str:
        b, a = pairs(10, correlation, seed=4)
        return pairing_cost(described(dict(enumerate(b))), described(dict(enumerate(a))))

    assert cost(0.9) == ""
    assert cost(0.0).startswith("pairing cost power: the correlation of the pairs is ")


def compared(b: Sequence[float], a: Sequence[float], *, margin: float | None = None) -> Comparison:
    return compare(list(b), list(a), rng=fresh(), direction="max", is_paired=True, margin=margin)


def test_paired_t_and_sign_flips_decide_where_runs_were_paired() -> None:
    b, a = pairs(10, 0.95, shift=0.5)
    alone, together = compare(b, a, rng=fresh(), direction="max"), compared(b, a)
    assert (alone.verdict.word, together.verdict.word) == ("undecided", "better")
    assert isinstance(together.paired, Paired)
    assert together.both_tests == (paired_t(b, a), sign_flip_test(b, a))
    assert together.deciding_test in together.both_tests
    assert together.p_adjusted == max(outcome(it).p_value for it in together.both_tests)
    assert together.paired.interval == paired_interval(b, a)
    assert together.difference_interval == paired_both_interval(b, a)
    assert together.detectable == detectable_paired(b, a)
    assert together.welch == alone.welch
    assert isinstance(alone.paired, Unavailable)


def test_a_verdict_by_pairs_needs_six_of_them() -> None:
    b, a = pairs(6, 0.95, shift=9)
    assert compared(b, a).verdict.word == "better"
    few = compared(b[:5], a[:5]).verdict
    assert (few.word, few.refusal.reason) == ("undecided", "needs 6 pairs, has 5")


def test_equivalence_of_pairs_goes_by_their_differences() -> None:
    b, a = pairs(12, 0.97, shift=0.0)
    assert compared(b, a, margin=0.4).verdict.word == "equivalent"
    assert compare(b, a, rng=fresh(), margin=0.4).verdict.word == "undecided"
    assert "pairs would detect a difference of the margin 0.05 at" in verdict_reason(compared(b, a, margin=0.05))


def test_pairs_without_spread_in_their_differences_have_named_answers() -> None:
    b = [0.1, 0.2, 0.4, 0.7, 0.3, 0.6]
    same, shifted = compared(b, b), compared(b, [x + 0.25 for x in b])
    assert (same.verdict.word, verdict_reason(same)) == ("identical", "the values of all 6 pairs are equal")
    assert shifted.verdict.word == "undecided"
    assert verdict_reason(shifted) == "constant difference 0.25 in 6 pairs, no spread of the differences observed"
    assert shifted.difference == pytest.approx(0.25)
    assert isinstance(shifted.paired, Paired)
    assert shifted.paired.t_test == Unavailable(Reason.CONSTANT_DIFFERENCE)
    assert outcome(shifted.paired.wilcoxon).p_value == pytest.approx(2 / 2**6)


def test_power_of_pairs_grows_with_their_correlation_as_in_the_contract() -> None:
    """With d = .8, n = 8: correlation 0 .28 paired and .31 by Welch, .6 .60 and .26."""
    draws = np.random.default_rng(8)
    rates = {}
    for correlation in (0.0, 0.6):
        shared, own = draws.normal(0, 1, (1500, 8)), draws.normal(0, 1, (2, 1500, 8))
        b, a = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own
        tests = [
            (outcome(paired_t(x, y)).p_value, outcome(welch(x, y)).p_value)
            for x, y in zip(b.tolist(), (a + 0.8).tolist(), strict=True)
        ]
        rates[correlation] = np.mean(np.array(tests) < 0.05, axis=0)
    assert rates[0.0] == pytest.approx([0.28, 0.31], abs=0.04)
    assert rates[0.6] == pytest.approx([0.60, 0.26], abs=0.05)
    exact = power.TTestPower().power(0.8 / np.sqrt(2 * 0.4), nobs=8, alpha=0.05)
    assert rates[0.6][0] == pytest.approx(exact, abs=0.04)


def test_beyond_three_hundred_pairs_signed_ranks_are_taken_as_normal() -> None:
    b, a = pairs(301, 0.5, shift=0.1)
    tested = outcome(wilcoxon(b, a))
    differences = np.array(a) - np.array(b)
    theirs = scipy_stats.wilcoxon(differences, method="asymptotic", correction=True)
    assert tested.p_value == pytest.approx(float(theirs.pvalue))
    assert tested.note == "normal approximation, continuity corrected"
    assert outcome(wilcoxon(b[1:], a[1:])).note == "exact"


def test_the_order_of_pairs_changes_no_sampled_p() -> None:
    draws = np.random.default_rng(1)
    b, a = draws.integers(0, 9, 20).tolist(), draws.integers(0, 9, 20).tolist()
    one = outcome(wilcoxon(b, a))
    assert "resamples" in one.note
    assert outcome(wilcoxon(b[::-1], a[::-1])) == one
