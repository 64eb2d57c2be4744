import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from samples import experiment, metric, run, sample
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from deviate.errors import InputError
from deviate.model.comparisons import Comparison
from deviate.model.estimates import Test, Unavailable
from deviate.model.findings import Findings
from deviate.model.phrases import Reason
from deviate.model.records import Experiment, Series
from deviate.report.advice import warnings_of
from deviate.report.verdicts import verdict_reason
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

METRICS = [
    metric("loss", direction="min"),
    metric("test_acc"),
    metric("train_acc"),
    metric("epoch_time", role="time", direction="min"),
    metric("grad_norm", role="other", direction=None),
]


def scored(name: str, shift: float = 0.0, n: int = 8, seed: int = 0) -> Experiment:
    draws = np.random.default_rng(seed)
    scores = {
        "loss": draws.normal(0.5 - shift, 0.1, n).tolist(),
        "test_acc": draws.normal(0.90 + shift, 0.01, n).tolist(),
        "train_acc": draws.normal(0.95 + shift / 10, 0.01, n).tolist(),
        "epoch_time": draws.normal(10, 0.5, n).tolist(),
        "grad_norm": draws.normal(0, 1, n).tolist(),
    }
    return experiment(name, METRICS, scores)


def p_value(comparison: Comparison) -> float:
    """The larger p of both tests."""
    assert isinstance(comparison.welch, Test)
    assert isinstance(comparison.permutation, Test)
    return max(comparison.welch.p_value, comparison.permutation.p_value)


def by_name(findings: Findings, pair: int = 0) -> dict[str, Comparison]:
    return {comparison.metric.name: comparison for comparison in findings.pairs[pair].comparisons}


def test_primary_comes_first_then_results_losses_times_and_the_rest() -> None:
    findings = judge([scored("a")])
    described = findings.experiments[0].descriptions
    assert [description.metric.name for description in described] == [
        "test_acc",
        "train_acc",
        "loss",
        "epoch_time",
        "grad_norm",
    ]
    assert isinstance(described[-1].cv, Unavailable)
    assert findings.primary == "test_acc"
    assert findings.pairs == ()


def test_the_headline_compares_the_primary_metric_unadjusted() -> None:
    findings = judge([scored("a"), scored("b", 0.05, seed=1)])
    headline = findings.pairs[0].headline
    assert headline is not None
    assert headline.metric.name == "test_acc"
    assert headline.verdict.word == "better"
    assert headline.p_adjusted == p_value(headline)


def test_secondary_quality_metrics_and_the_others_are_two_families_of_holm() -> None:
    findings = judge([scored("a"), scored("b", 0.05, seed=1)])
    found = by_name(findings)
    for family in (["loss", "train_acc"], ["epoch_time", "grad_norm"]):
        expected = multipletests([p_value(found[name]) for name in family], method="holm")[1]
        assert [found[name].p_adjusted for name in family] == pytest.approx(expected.tolist())
    assert findings.pairs[0].family == (
        "primary metric: not adjusted; 2 secondary quality metrics: Holm, family of 2; "
        "2 time or other metrics: Holm, family of 2"
    )


def test_several_candidates_share_the_family_of_the_primary_metric() -> None:
    findings = judge([scored("a"), scored("b", 0.01, seed=1), scored("c", 0.012, seed=2)])
    headlines = [by_name(findings, pair)["test_acc"] for pair in range(2)]
    expected = multipletests([p_value(headline) for headline in headlines], method="holm")[1]
    assert [headline.p_adjusted for headline in headlines] == pytest.approx(expected.tolist())
    assert "primary metric: Holm, family of 2" in findings.pairs[0].family


def test_a_comparison_without_a_test_still_counts_in_its_family() -> None:
    before, after = scored("a"), scored("b", 0.001, seed=1)
    frozen = tuple(replace(one, series={**one.series, "loss": Series((0,), (0.5,))}) for one in after.runs)
    equal = tuple(replace(one, series={**one.series, "loss": Series((0,), (0.5,))}) for one in before.runs)
    found = by_name(judge([replace(before, runs=equal), replace(after, runs=frozen)]))
    assert found["loss"].p_adjusted == Unavailable(Reason.IDENTICAL)
    assert found["train_acc"].p_adjusted == pytest.approx(min(1, 2 * p_value(found["train_acc"])))


def test_without_a_primary_metric_all_quality_metrics_are_one_family() -> None:
    metrics = [metric("acc", direction=None), metric("f1", direction=None)]
    before = experiment("a", metrics, {"acc": sample(0.9, 0.01, 8), "f1": sample(0.8, 0.01, 8)})
    after = experiment("b", metrics, {"acc": sample(0.92, 0.01, 8), "f1": sample(0.81, 0.01, 8)})
    assert judge([replace(one, sources_hash="ab") for one in (before, after)]).primary == "acc"  # reported first
    findings = judge([before, after])  # in a table the order means nothing
    assert findings.primary is None
    assert findings.pairs[0].headline is None
    assert findings.pairs[0].family == "2 quality metrics: Holm, family of 2"
    assert any("--metric acc or --metric f1" in warning for warning in warnings_of(findings))
    named = judge([before, after], AnalysisOptions(metric="f1"))
    assert named.primary == "f1"
    assert named.pairs[0].comparisons[0].metric.name == "f1"
    assert not any("--metric" in warning for warning in warnings_of(named))


def test_findings_repeat_and_do_not_depend_on_the_other_metrics() -> None:
    tied = {"acc": [0.9, 0.9, 0.91, 0.92, 0.92, 0.93, 0.91, 0.9], "f1": [0.5, 0.5, 0.6, 0.6, 0.7, 0.7, 0.6, 0.5]}
    moved = {name: [round(x + 0.01, 2) for x in values] for name, values in tied.items()}
    both = [metric("f1"), metric("acc", is_primary=True)]
    alone = [metric("acc", is_primary=True)]
    full = judge([experiment("a", both, tied), experiment("b", both, moved)])
    again = judge([experiment("a", both, tied), experiment("b", both, moved)])
    less = judge([experiment("a", alone, tied), experiment("b", alone, moved)])
    assert full == again
    assert by_name(full)["acc"].mann_whitney == by_name(less)["acc"].mann_whitney
    assert isinstance(by_name(full)["acc"].mann_whitney, Test)


def test_figures_equal_scipys_on_the_same_scores() -> None:
    before, after = scored("a"), scored("b", 0.02, seed=1)
    found = by_name(judge([before, after]))
    for name in ("loss", "test_acc", "epoch_time"):
        b, a = ([one.series[name].values[-1] for one in side.runs] for side in (before, after))
        welch = found[name].welch
        assert isinstance(welch, Test)
        assert welch.p_value == pytest.approx(float(scipy_stats.ttest_ind(a, b, equal_var=False).pvalue))


def test_scores_are_read_where_a_metric_is_best_that_restates_another_one_and_has_its_direction_from_the_user() -> None:
    curves = [{"test_acc": [1.0, 5.0, 3.0, shift], "loss": [4.0, 2.0, 1.0, 3.0], "copy": [4.0, 2.0, 1.0, 3.0]}
              for shift in (2.0, 2.5)]  # fmt: skip
    metrics = [metric("test_acc"), metric("loss", direction="min"), metric("copy", direction=None)]
    measured = experiment("a", metrics, {}, runs=[run(i, curve) for i, curve in enumerate(curves)])
    assert judge([measured], AnalysisOptions(aggregate="at-best:loss")).experiments[0].descriptions[0].values == [
        3.0,
        3.0,
    ]
    findings = judge([measured], AnalysisOptions(aggregate="at-best:copy", directions={"copy": "max"}))
    assert findings.experiments[0].descriptions[0].values == [1.0, 1.0]


def test_aggregates_are_taken_per_run_and_can_be_overridden() -> None:
    curves = [run(i, {"acc": [0.1, 0.9 + i / 100, 0.5 + i / 100]}) for i in range(5)]
    measured = experiment("a", [metric("acc", aggregate="best")], {}, runs=curves)
    best = judge([measured]).experiments[0].descriptions[0]
    first = judge([measured], AnalysisOptions(aggregate="at:0")).experiments[0].descriptions[0]
    assert [score.value for score in best.scores] == pytest.approx([0.9, 0.91, 0.92, 0.93, 0.94])
    assert first.metric.aggregate == "at:0"
    assert first.note == "all 5 values equal"


def test_best_leaves_a_metric_without_direction_as_it_is_and_says_so() -> None:
    findings = judge([scored("a")], AnalysisOptions(aggregate="best"))
    aggregates = {d.metric.name: d.metric.aggregate for d in findings.experiments[0].descriptions}
    assert (aggregates["grad_norm"], aggregates["loss"]) == ("last", "best")
    assert any("best needs a direction, which grad_norm lacks" in warning for warning in warnings_of(findings))


def test_the_best_of_test_data_is_flagged() -> None:
    for aggregate in ("best", "max", "at-best:test_acc"):
        warnings = warnings_of(judge([scored("a")], AnalysisOptions(aggregate=aggregate)))
        assert any(f"{aggregate} of test_acc chooses its step on test data" in warning for warning in warnings)
        assert not any("of train_acc" in warning for warning in warnings)
    assert not any(
        "test data" in warning for warning in warnings_of(judge([scored("a")], AnalysisOptions(aggregate="min")))
    )


def test_failures_count_in_the_number_of_runs_and_lost_ones_do_not() -> None:
    ended = [
        run(8, {"acc": [0.9]}, "crashed"),
        run(9, {"acc": [float("nan")]}, "diverged"),
        run(10, {"acc": [0.1]}, "diverged"),
        run(11, {}, "timed_out"),
        run(12, {}, "silent"),
        run(13, {"acc": [0.9]}, "lost"),
        run(14, {"acc": [0.9]}, "cancelled"),
    ]
    measured = experiment("a", [metric("acc")], {"acc": sample(0.9, 0.01, 8)}, runs=ended)
    findings = judge([replace(measured, n_planned=16)])
    description = findings.experiments[0].descriptions[0]
    assert (description.n, description.n_runs) == (8, 13)
    assert description.missing == (
        (8, "crashed"),
        (9, "diverged: NaN at the last step (0)"),
        (10, "diverged"),
        (11, "timed out"),
        (12, "the guest never reported"),
    )
    text = "\n".join(warnings_of(findings))
    assert "2 of 13 runs of a: diverged (replicates 9–10)" in text
    assert "1 of 13 runs of a: crashed (replicate 8)" in text
    assert "2 runs of a lost or cancelled (replicates 13–14)" in text
    assert "1 of 16 planned runs of a are missing" in text


def test_unequal_failure_rates_are_said_first() -> None:
    before = experiment("a", [metric("acc")], {"acc": sample(0.9, 0.01, 8)})
    after = experiment("b", [metric("acc")], {"acc": sample(0.95, 0.01, 8)}, runs=[run(8, {}, "crashed")])
    comparison = judge([before, after]).pairs[0].comparisons[0]
    assert comparison.verdict.word == "better"
    assert verdict_reason(comparison).startswith("1 of 9 runs of b and 0 of 8 of a have no score; ")


def test_a_completed_run_without_a_score_is_listed_with_its_reason() -> None:
    short = run(5, {"acc": [0.5]})
    measured = experiment(
        "a",
        [metric("acc", aggregate="at:2")],
        {},
        runs=[
            *(run(i, {"acc": [0.5, 0.6, 0.7 + i / 100]}) for i in range(5)),
            short,
        ],
    )
    findings = judge([measured])
    assert findings.experiments[0].descriptions[0].missing == ((5, "no value at step 2 (first 0, last 0)"),)
    assert any("acc (at:2) has no score in 1 of 6 completed runs of a" in warning for warning in warnings_of(findings))


def test_metrics_that_no_run_reported_cost_one_sentence_and_nothing_else() -> None:
    metrics = [metric("test_auc"), metric("acc"), metric("f1")]
    sides = [experiment(name, metrics, {"acc": sample(0.9, 0.01, 5)}) for name in "ab"]
    findings = judge(sides)
    assert [warning for warning in warnings_of(findings) if "auc" in warning or "f1" in warning] == [
        "Left out, because no run reported them: test_auc, f1. Correct or deselect them in deviate.toml."
    ]
    assert findings.primary == "acc"
    assert [[one.metric.name for one in item.descriptions] for item in findings.experiments] == [["acc"], ["acc"]]
    assert [comparison.metric.name for comparison in findings.pairs[0].comparisons] == ["acc"]


def test_a_metric_that_no_run_reported_stays_where_it_was_asked_for_or_a_run_may_have_been_about_to_report_it() -> None:
    metrics = [metric("acc"), metric("auc", is_primary=True)]
    scores = {"acc": sample(0.9, 0.01, 5)}
    findings = judge([experiment("a", [*metrics[:1], metric("auc")], scores)], AnalysisOptions(metric="auc"))
    assert findings.experiments[0].descriptions[0].note == "no run has a score (0/5)"
    assert "auc was never reported in a: correct or deselect it in deviate.toml." in warnings_of(findings)
    assert judge([experiment("a", metrics, scores)]).primary == "acc"
    assert judge([experiment("a", metrics, scores, runs=[run(5, {}, "crashed")])]).primary == "auc"
    assert judge([experiment("a", metrics, {}, runs=[run(0, {}, "crashed")])]).primary == "auc"


def test_a_metric_that_one_side_alone_reported_stays() -> None:
    metrics = [metric("acc"), metric("f1")]
    sides = [
        experiment("a", metrics, {"acc": sample(0.9, 0.01, 5)}),
        experiment("b", metrics, {"acc": sample(0.9, 0.01, 5), "f1": [0.5, 0.51, 0.54, 0.53, 0.51]}),
    ]
    findings = judge(sides)
    assert [len(item.descriptions) for item in findings.experiments] == [2, 2]
    assert "f1 was never reported in a: correct or deselect it in deviate.toml." in warnings_of(findings)


def renamed() -> list[Experiment]:
    before = experiment(
        "a", [metric("test_acc"), metric("f1")], {"test_acc": sample(1, 0.1, 6), "f1": [2.1, 2.0, 2.3, 2.2, 2.1, 2.0]}
    )
    scores = {"acc": sample(3, 0.1, 6), "f1": [4.1, 4.0, 4.3, 4.2, 4.1, 4.0]}
    after = experiment("b", [metric("acc"), metric("f1")], scores)
    return [before, after]


def test_unmatched_metrics_are_listed_on_both_sides_with_the_flag() -> None:
    findings = judge(renamed())
    pair = findings.pairs[0]
    assert (pair.unmatched_baseline, pair.unmatched_candidate) == (("test_acc",), ("acc",))
    assert [comparison.metric.name for comparison in pair.comparisons] == ["f1"]
    assert pair.headline is None
    text = "\n".join(warnings_of(findings))
    assert "only in a: test_acc; only in b: acc" in text
    assert "--match test_acc=acc" in text
    assert "--match test_acc=NAME" in text


def test_matched_metrics_are_compared_and_the_primary_mark_follows() -> None:
    findings = judge(renamed(), AnalysisOptions(matches={"test_acc": "acc"}))
    headline = findings.pairs[0].headline
    assert headline is not None
    assert (headline.metric.name, headline.candidate_metric.name) == ("test_acc", "acc")
    assert headline.difference == pytest.approx(2)
    assert findings.experiments[1].descriptions[0].metric.name == "acc"
    assert not any("--match" in warning for warning in warnings_of(findings))


def test_a_matched_metric_is_not_matched_again_by_its_own_name() -> None:
    findings = judge(renamed(), AnalysisOptions(matches={"test_acc": "f1"}))
    assert [(c.metric.name, c.candidate_metric.name) for c in findings.pairs[0].comparisons] == [("test_acc", "f1")]
    assert findings.pairs[0].unmatched_baseline == ("f1",)
    assert findings.pairs[0].unmatched_candidate == ("acc",)
    marks = {d.metric.name: d.metric.is_primary for d in findings.experiments[1].descriptions}
    assert marks == {"f1": True, "acc": False}


def test_the_margin_belongs_to_the_primary_metric() -> None:
    found = by_name(judge([scored("a"), scored("b", seed=1)], AnalysisOptions(margin=0.5)))
    assert found["test_acc"].verdict.word == "equivalent"
    assert found["train_acc"].metric.margin is None


def test_a_primary_metric_declared_by_the_candidate_counts() -> None:
    metrics = [metric("acc"), metric("f1")]
    scores = {"acc": sample(1, 0.1, 5), "f1": sample(2, 0.1, 5)}
    declared = [metric("acc"), metric("f1", is_primary=True)]
    assert judge([experiment("a", metrics, scores), experiment("b", declared, scores)]).primary == "f1"


def test_disagreeing_directions_are_warned_of() -> None:
    scores = {"acc": sample(1, 0.1, 5)}
    before = experiment("a", [metric("acc")], scores)
    after = experiment("b", [metric("acc", direction="min")], scores)
    text = "\n".join(warnings_of(judge([before, after])))
    assert "acc: higher is better in the baseline, lower in b" in text


def test_variants_of_one_experiment_are_told_apart() -> None:
    scores = {"acc": sample(1, 0.1, 5)}
    variants = [experiment("a", [metric("acc")], scores, variant=variant) for variant in ("algo", "impl")]
    pair = judge(variants).pairs[0]
    assert (pair.baseline, pair.candidate) == ("a:algo", "a:impl")
    assert pair.comparisons[0].verdict.word == "undecided"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"metric": "test_ac"}, "Did you mean test_acc?"),
        ({"aggregate": "final"}, "at:K"),
        ({"aggregate": "at-best:los"}, "Did you mean loss?"),
        ({"aggregate": "at-best:grad_norm"}, "--direction grad_norm=max"),
        ({"matches": {"acc": "test_acc"}}, "Its metrics are: loss, test_acc"),
        ({"matches": {"test_acc": "zzz"}}, "Its metrics are:"),
        ({"margin": -1.0}, "primary metric"),
        ({"margin": float("nan")}, "primary metric"),
        ({"confidence": 95.0}, "0.95"),
        ({"confidence": float("nan")}, "0.95"),
        ({"analysis_seed": -1}, "positive"),
    ],
)
def test_a_setting_out_of_place_is_refused_with_what_to_do(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        judge([scored("a"), scored("b")], AnalysisOptions(**settings))
    assert told in caught.value.hint


def test_no_experiment_is_refused() -> None:
    with pytest.raises(InputError, match="no experiment"):
        judge([])


def test_any_number_of_runs_against_any_other_is_judged() -> None:
    for n_before, n_after in itertools.product((0, 1, 2, 5), repeat=2):
        findings = judge([scored("a", n=n_before), scored("b", n=n_after, seed=1)])
        assert len(findings.pairs[0].comparisons) == len(METRICS)


def test_over_tasks_no_single_metric_is_asked_for() -> None:
    metrics = [metric("a: acc"), metric("b: acc")]
    draws = np.random.default_rng(0)
    both = [
        experiment(name, metrics, {it.name: draws.normal(0.9, 0.01, 6).tolist() for it in metrics})
        for name in ("base", "new")
    ]
    assert judge(both).primary is None
    found = judge(both, AnalysisOptions(tasks="*acc"))
    assert found.tasks is not None
    assert found.tasks.tasks == ("a: acc", "b: acc")
    assert found.primary is None
    assert not any("--metric" in warning for warning in warnings_of(found))
    with pytest.raises(InputError, match="no metric '\\*loss'"):
        judge(both, AnalysisOptions(tasks="*loss"))


def test_a_given_direction_goes_before_what_the_name_says() -> None:
    both = [scored("base"), scored("new", shift=0.05, seed=1)]
    assert word(judge(both, AnalysisOptions(metric="test_acc"))) == "better"
    assert word(judge(both, AnalysisOptions(metric="test_acc", directions={"test_acc": "min"}))) == "worse"
    assert word(judge(both, AnalysisOptions(metric="grad_norm", directions={"grad_norm": "max"}))) == "undecided"
    with pytest.raises(InputError, match="no metric 'acc'"):
        judge(both, AnalysisOptions(directions={"acc": "max"}))


def word(findings: Findings) -> str:
    headline = findings.pairs[0].headline
    assert headline is not None
    return headline.verdict.word
