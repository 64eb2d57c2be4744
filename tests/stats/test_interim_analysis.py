from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from samples import experiment, metric, run, sample
from scipy import optimize
from scipy import stats as scipy_stats

from deviate.model.comparisons import Comparison
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.findings import Findings, PairFindings
from deviate.model.phrases import Note, Reason
from deviate.model.records import Experiment, Run
from deviate.report.advice import warnings_of
from deviate.report.verdicts import verdict_reason
from deviate.stats.design.group_sequential import SpendingPlan, at_look, repeated_p
from deviate.stats.hypothesis.both import BothTests, ask_both
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

LOOKS = (5, 10, 20)


def side(name: str, mean: float, n: int, *, looks: Sequence[int] = LOOKS, runs: Sequence[Run] = ()) -> Experiment:
    made = experiment(name, [metric("acc")], {"acc": sample(mean, 1.0, n)}, runs=runs)
    return replace(made, looks=tuple(looks))


def only(findings: Findings) -> tuple[PairFindings, Comparison]:
    (pair,) = findings.pairs
    (comparison,) = pair.comparisons
    return pair, comparison


def nominal_p(mean: float, n: int, n_candidate: int | None = None) -> float:
    """The larger p of both tests."""
    both = ask_both(sample(0.0, 1.0, n), sample(mean, 1.0, n_candidate or n))
    assert isinstance(both, BothTests)
    return both.p


def test_without_looks_a_comparison_is_what_it_was() -> None:
    pair, comparison = only(judge([side("a", 0, 10, looks=()), side("b", 1, 10, looks=())]))
    assert pair.looks == ""
    assert isinstance(comparison.welch, Test)
    assert isinstance(comparison.difference_interval, Interval)
    assert comparison.welch.note == ""
    assert comparison.p_adjusted == pytest.approx(nominal_p(1, 10))
    interval = comparison.difference_interval
    assert (interval.confidence, interval.method) == (0.95, "Welch and permutation")


def test_a_p_below_alpha_does_not_decide_before_it_is_below_the_critical_p_of_its_look() -> None:
    p = float(scipy_stats.ttest_ind(sample(1.1, 1.0, 10), sample(0.0, 1.0, 10), equal_var=False).pvalue)
    critical = at_look(SpendingPlan(LOOKS), 2)
    assert critical < p < 0.05
    _, undeclared = only(judge([side("a", 0, 10, looks=()), side("b", 1.1, 10, looks=())]))
    pair, declared = only(judge([side("a", 0, 10), side("b", 1.1, 10)]))
    assert (undeclared.verdict.word, declared.verdict.word) == ("better", "undecided")
    assert verdict_reason(declared).startswith("look 2 of 3: the 99.7% interval of the difference contains 0")
    assert pair.looks == (
        "look 2 of 3, declared at 5, 10, 20 runs (O'Brien-Fleming spending): critical p 0.00305, repeated 99.7% "
        "intervals, adjusted p are repeated p-values"
    )
    assert isinstance(declared.welch, Test)
    assert isinstance(declared.permutation, Test)
    assert declared.welch.p_value == pytest.approx(p)
    assert declared.welch.note == "critical p at look 2 of 3: 0.00305"
    assert declared.permutation.note == "exact permutation, critical p at look 2 of 3: 0.00305"
    assert isinstance(declared.student, Test)
    assert declared.student.note == "equal variances assumed, nominal"


@pytest.mark.parametrize("difference", [1.49, 1.51])
def test_word_repeated_interval_and_repeated_p_agree_at_the_critical_difference(difference: float) -> None:
    critical = at_look(SpendingPlan(LOOKS), 2)
    threshold = float(optimize.bisect(lambda shift: nominal_p(shift, 10) - critical, 1.0, 2.0, xtol=1e-3))
    assert threshold == pytest.approx(1.5, abs=0.1)
    shift = difference - 1.5 + threshold
    _, comparison = only(judge([side("a", 0, 10), side("b", shift, 10)]))
    is_beyond = difference > 1.5
    assert (comparison.verdict.word == "better") == is_beyond
    assert isinstance(comparison.difference_interval, Interval)
    assert comparison.difference_interval.confidence == pytest.approx(1 - critical)
    assert comparison.difference_interval.method == "Welch and permutation, repeated at look 2 of 3"
    assert (comparison.difference_interval.low > 0) == is_beyond
    assert comparison.p_adjusted == pytest.approx(repeated_p(SpendingPlan(LOOKS), 2, nominal_p(shift, 10)))
    assert not isinstance(comparison.p_adjusted, Unavailable)
    assert (comparison.p_adjusted < 0.05) == is_beyond


def test_the_last_look_decides_nearly_as_a_single_test_and_the_spending_is_that_of_the_record() -> None:
    sides = [side("a", 0, 20), side("b", 1, 20)]
    _, comparison = only(judge(sides))
    assert comparison.verdict.word == "better"
    pocock = [replace(it, spending="pocock") for it in sides]
    pair, other = only(judge(pocock, AnalysisOptions(confidence=0.9)))
    assert "Pocock spending" in pair.looks
    assert isinstance(other.difference_interval, Interval)
    assert other.difference_interval.confidence == pytest.approx(1 - at_look(SpendingPlan(LOOKS, "pocock", 0.9), 3))


def test_between_looks_no_test_and_no_interval_is_shown_and_the_next_look_is_named() -> None:
    pair, comparison = only(judge([side("a", 0, 7), side("b", 9, 7)]))
    assert comparison.verdict.word == "withheld"
    assert (
        verdict_reason(comparison) == "no look is declared at 7 runs: verdict withheld until 10 of each" == pair.looks
    )
    assert comparison.difference == pytest.approx(9)
    refusal = Unavailable(Reason.NO_LOOK((7,)))
    tests = (comparison.welch, comparison.student, comparison.mann_whitney, comparison.p_adjusted)
    intervals = (comparison.difference_interval, comparison.hedges_g_interval, comparison.sd_ratio_interval)
    assert {*tests, *intervals, comparison.superiority_interval} == {refusal}
    assert isinstance(comparison.baseline.mean_interval, Interval)


@pytest.mark.parametrize(
    ("n_baseline", "n_candidate", "told"),
    [
        (10, 8, "no look is declared at 10 and 8 runs: verdict withheld until 10 of each"),
        (11, 10, "no look is declared at 11 and 10 runs: verdict withheld until 20 of each"),
        (21, 21, "no look is declared at 21 runs: verdict withheld, the last look was at 20"),
    ],
)
def test_both_sides_have_to_stand_at_the_same_look(n_baseline: int, n_candidate: int, told: str) -> None:
    _, comparison = only(judge([side("a", 0, n_baseline), side("b", 1, n_candidate)]))
    assert (comparison.verdict.word, verdict_reason(comparison)) == ("withheld", told)


def test_failures_count_towards_a_look_and_lost_runs_do_not() -> None:
    crashed, lost = run(9, {}, "crashed"), run(10, {}, "lost")
    _, comparison = only(judge([side("a", 0, 10), side("b", 3, 9, runs=[crashed, lost])]))
    assert comparison.verdict.word == "better"
    assert verdict_reason(comparison).startswith("look 2 of 3: 1 of 10 runs of b and 0 of 10 of a have no score")


def test_a_baseline_that_was_carried_out_before_counts_with_all_its_runs() -> None:
    pair, comparison = only(judge([side("a", 0, 20, looks=()), side("b", 1, 5)]))
    critical = at_look(SpendingPlan(LOOKS, fixed=20), 1)
    assert f"critical p {critical:.3g}" in pair.looks
    assert comparison.p_adjusted == pytest.approx(repeated_p(SpendingPlan(LOOKS, fixed=20), 1, nominal_p(1, 20, 5)))


def test_plans_that_differ_leave_the_verdict_open() -> None:
    _, comparison = only(judge([side("a", 0, 10), side("b", 3, 10, looks=(10, 20))]))
    assert comparison.verdict.word == "withheld"
    assert verdict_reason(comparison) == (
        "the declared looks differ, 5, 10, 20 (O'Brien-Fleming) v 10, 20 (O'Brien-Fleming): verdict withheld"
    )


def test_unplanned_looks_mark_p_values_and_intervals_and_withhold_the_verdict() -> None:
    before, after = side("a", 0, 10, looks=()), side("b", 3, 10, looks=())
    findings = judge([replace(before, n_unplanned_looks=1), replace(after, n_unplanned_looks=2)])
    pair, comparison = only(findings)
    assert comparison.verdict.word == "withheld"
    assert verdict_reason(comparison) == "p-values not valid: 2 unplanned looks; verdict withheld" == pair.looks
    assert comparison.p_adjusted == Unavailable(Reason.UNPLANNED(2))
    for test in (comparison.welch, comparison.student, comparison.mann_whitney, comparison.brown_forsythe):
        assert isinstance(test, Test)
        assert test.note.endswith("not valid: 2 unplanned looks")
    for interval in (comparison.difference_interval, comparison.hedges_g_interval, comparison.superiority_interval):
        assert isinstance(interval, Interval)
        assert interval.note == "not valid: 2 unplanned looks"
    (warning,) = [it for it in warnings_of(findings) if "unplanned" in it]
    assert warning.startswith("Runs were added to a, b after results had been reported (2 unplanned looks)")
    assert "--looks" in warning


def test_while_runs_are_still_to_come_there_are_means_and_no_verdict() -> None:
    before, after = side("a", 0, 10, looks=()), side("b", 3, 7, looks=())
    pair, comparison = only(judge([before, replace(after, n_planned=10, n_pending=3)]))
    assert comparison.verdict.word == "withheld"
    assert verdict_reason(comparison) == "7 of 10 runs of b have ended: no verdict until all have" == pair.looks
    assert comparison.p_adjusted == Unavailable(Reason.PENDING((Note.ENDED(7, 10, "b"),)))
    assert isinstance(comparison.difference_interval, Unavailable)
    assert isinstance(comparison.candidate.mean_interval, Interval)
    equal = replace(before, name="b", n_planned=11, n_pending=1)
    assert only(judge([before, equal]))[1].verdict.word == "withheld"


def test_unplanned_looks_outweigh_declared_ones() -> None:
    _, comparison = only(judge([replace(side("a", 0, 10), n_unplanned_looks=1), side("b", 3, 10)]))
    assert verdict_reason(comparison) == "p-values not valid: 1 unplanned look; verdict withheld"


def test_what_needs_no_error_rate_is_said_at_any_time() -> None:
    equal = experiment("a", [metric("acc")], {"acc": [0.5] * 7})
    sides = [replace(equal, looks=LOOKS), replace(equal, name="b", looks=LOOKS)]
    assert only(judge(sides))[1].verdict.word == "identical"
    single = replace(experiment("b", [metric("acc")], {"acc": [0.5]}), looks=LOOKS)
    few = only(judge([side("a", 0, 7), single]))[1]
    assert (few.verdict.word, verdict_reason(few)) == ("undecided", "candidate: 1 run, spread unknown")


def test_a_candidate_that_waits_for_its_look_still_counts_in_the_family() -> None:
    sides = [side("a", 0, 10, looks=()), side("b", 1.2, 10, looks=()), side("c", 1.2, 7)]
    first, second = judge(sides).pairs
    assert first.comparisons[0].p_adjusted == pytest.approx(2 * nominal_p(1.2, 10))
    assert second.comparisons[0].verdict.word == "withheld"


def test_runs_that_come_after_a_declared_look_are_not_called_missing() -> None:
    for n, is_missing in ((10, False), (7, True)):
        sides = [replace(side(name, 0, n), n_planned=20) for name in "ab"]
        assert any("planned runs" in it for it in warnings_of(judge(sides))) == is_missing


def test_several_candidates_at_a_look_err_together_as_often_as_one() -> None:
    """Holm begins with half of alpha: a repeated p below it is a p below the critical one of a plan of that level."""
    plan, n_experiments = SpendingPlan(LOOKS, "pocock"), 20_000
    half = [at_look(replace(plan, confidence=0.975), k) for k in (1, 2, 3)]
    assert [repeated_p(plan, k, half[k - 1]) for k in (1, 2, 3)] == pytest.approx([0.025] * 3)
    draws = np.random.default_rng(21)
    baseline, *candidates = draws.normal(0, 1, (3, n_experiments, 20))
    wrong = np.zeros(n_experiments, dtype=bool)
    for candidate in candidates:
        for n, p in zip(LOOKS, half, strict=True):
            wrong |= scipy_stats.ttest_ind(candidate[:, :n], baseline[:, :n], axis=1, equal_var=False).pvalue < p
    assert 0.03 < np.mean(wrong) < 0.05


def test_the_description_of_a_target_says_by_what_the_number_of_runs_was_decided() -> None:
    metrics = [metric("acc", is_primary=True), metric("loss", direction="min")]
    scores = {"acc": sample(90, 1, 10), "loss": sample(1, 0.1, 10)}
    for width, got in (("±0.8", "reached"), ("±0.5", "not reached")):
        item = replace(experiment("a", metrics, scores), precision=f"acc {width}")
        described = {it.metric.name: it.note for it in judge([item]).experiments[0].descriptions}
        assert described["acc"] == (
            f"number of runs decided by precision, {width} ({got}); its 95% interval covers slightly less than its "
            "level"
        )
        assert described["loss"] == ""


def test_times_of_runs_that_shared_the_device_are_marked_in_description_and_comparison() -> None:
    metrics = [metric("acc", is_primary=True), metric("epoch_time", role="time", direction="min")]
    scores = {"acc": sample(90, 1, 6), "epoch_time": sample(10, 1, 6)}
    alone = experiment("a", metrics, scores)
    runs = tuple(replace(it, n_sharing=it.replicate % 3, device="GPU 0") for it in alone.runs)
    findings = judge([alone, replace(alone, name="b", runs=runs)])
    told = "measured while up to 2 other runs shared the device"
    notes = [{it.metric.name: it.note for it in side.descriptions} for side in findings.experiments]
    assert notes == [{"acc": "", "epoch_time": ""}, {"acc": "", "epoch_time": told}]
    assert {it.metric.name: it.note for it in findings.pairs[0].comparisons} == {"acc": "", "epoch_time": told}
