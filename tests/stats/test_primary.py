from dataclasses import replace

import numpy as np
import pytest
from samples import experiment, metric

from deviate.model import MARGIN_AFTER, MARGIN_UNDATED, PrimaryChoice, SelectedMetric, date_margin
from deviate.model.metric_vocabulary import direction_of
from deviate.model.plan import BY_FIRST_RUN
from deviate.stats import judge
from deviate.stats.primary import choose_primary, find_primary, is_on_test_data, words_of


@pytest.mark.parametrize(
    ("metrics", "primary"),
    [
        ([metric("train_acc"), metric("test_acc")], "test_acc"),
        ([metric("train_acc"), metric("val_acc"), metric("tst_acc")], "tst_acc"),
        ([metric("train_acc"), metric("valid_loss", direction="min")], "valid_loss"),
        ([metric("loss", direction="min"), metric("eval_acc")], "eval_acc"),
        ([metric("test_score", direction=None), metric("dev_acc")], "dev_acc"),
        ([metric("test_time", role="time", direction="min"), metric("test_acc")], "test_acc"),
        ([metric("acc"), metric("seconds", role="time")], "acc"),
        ([metric("testAcc"), metric("trainAcc")], "testAcc"),
        ([metric("latest_acc"), metric("test_acc")], "test_acc"),
        ([metric("test_acc"), metric("test_acc_std")], "test_acc"),
        ([metric("test_acc"), metric("test_loss"), metric("acc", is_primary=True)], "acc"),
    ],
)
def test_the_only_metric_that_can_be_meant_is_primary(metrics: list[SelectedMetric], primary: str) -> None:
    assert find_primary(metrics) == (primary, "")


@pytest.mark.parametrize(
    ("names", "primary", "reason"),
    [
        ("test_loss test_acc", "test_acc", "a measure of merit before a loss"),
        ("train_loss loss acc val_loss val_acc", "val_acc", "measured on"),
        ("test_metrics loss", "loss", "the only"),
        ("loss acc", "acc", "a measure of merit before a loss"),
        ("val_loss accuracy", "accuracy", "a measure of merit before a loss"),
        ("acc val_loss val_acc", "val_acc", "measured on"),
        ("test_nat_acc test_fgsm_acc test_adv_acc", "test_adv_acc", "measured under the strongest attack"),
        ("val_ppl val_loss train_loss", "val_loss", "measured on"),
        ("loss token_acc", "loss", "a measure of merit before a loss"),
        ("acc1 acc5", "acc1", "an overall measure before one side of it"),
        ("miou iou_road iou_sky", "miou", "reported first"),
        ("test_acc_cat test_acc test_acc_dog", "test_acc", "an overall metric before one of a part"),
        ("episode_return episode_length critic_loss", "episode_return", "a measure of merit before a loss"),
        ("ppl loss", "loss", "a metric before one that restates it"),
        ("test_wer test_loss", "test_wer", "a measure of merit before a loss"),
    ],
)
def test_the_rule_reads_names_and_their_order(names: str, primary: str, reason: str) -> None:
    metrics = [metric(name, direction=direction_of(words_of(name)) or "max") for name in names.split()]
    choice = choose_primary(metrics)
    assert choice is not None
    assert choice.name == primary
    assert choice.reason.startswith(reason)
    assert set(choice.others) == {each.name for each in metrics} - {primary, "test_metrics"}


def test_of_several_measures_of_merit_the_one_that_selects_the_model_decides() -> None:
    metrics = [metric(name) for name in ("test_acc", "test_f1", "val_acc", "val_f1")]
    metrics.append(metric("val_loss", direction="min"))
    choices = [choose_primary(metrics, kept_by=name) for name in ("val_f1", "val_loss", None)]
    assert [choice and choice.name for choice in choices] == ["test_f1", "test_acc", "test_acc"]


def test_a_mapping_is_no_candidate_beside_its_items() -> None:
    whole = replace(metric("losses", direction="min"), metric=replace(metric("losses").metric, site=1))
    item = replace(whole, name="aux", metric=replace(whole.metric, id=1, label="aux", is_item=True))
    assert find_primary([whole, item]) == ("aux", "")


@pytest.mark.parametrize(
    ("metrics", "named"),
    [
        ([metric("score", direction=None)], "--metric score"),
        ([metric("fitness", direction=None), metric("stdev", direction=None)], "Add --metric fitness;"),
        ([metric("a", is_primary=True), metric("b", is_primary=True)], "--metric a or --metric b"),
        ([], "deviate.toml"),
    ],
)
def test_ambiguity_leaves_it_open_and_names_the_flag(metrics: list[SelectedMetric], named: str) -> None:
    primary, warning = find_primary(metrics)
    assert primary is None
    assert named in warning


@pytest.mark.parametrize(
    "name", ["test_acc", "acc_test", "test/acc", "Test Accuracy", "testAcc", "test1_acc", "TEST_ACC"]
)
def test_a_whole_word_tells_test_data(name: str) -> None:
    assert is_on_test_data(name)


@pytest.mark.parametrize("name", ["latest_acc", "contest", "val_acc", "attested", "testament_acc"])
def test_a_part_of_a_word_does_not(name: str) -> None:
    assert not is_on_test_data(name)


def test_a_metric_that_was_named_after_the_runs_is_adjusted_and_a_planned_one_is_not() -> None:
    names = ("acc", "f1", "loss")
    rng = np.random.default_rng(0)
    plan = PrimaryChoice("f1", "named with --metric before the runs")
    sides = [
        experiment(side, [metric(name) for name in names], {name: rng.normal(0, 1, 8).tolist() for name in names})
        for side in "ab"
    ]
    rule, after = judge(sides), judge(sides, primary="f1")
    planned = judge([replace(side, primary=plan) for side in sides])
    assert (rule.primary, after.primary, planned.primary) == ("acc", "f1", "f1")
    assert [findings.pairs[0].family for findings in (planned, after)] == [
        "primary metric: not adjusted; 2 secondary quality metrics: Holm, family of 2",
        "3 quality metrics: Holm, family of 3",
    ]
    mixed = judge([sides[0], replace(sides[1], primary=plan)])
    assert any("Plans differ" in warning for warning in mixed.warnings)


@pytest.mark.parametrize(
    ("margins", "reason", "label"),
    [
        ((None, None), "measured on test data", MARGIN_AFTER),
        ((30.0, 30.0), "measured on test data", MARGIN_AFTER),
        ((None, 50.0), "measured on test data", ""),
        ((None, None), f"measured on test data, {BY_FIRST_RUN}", MARGIN_UNDATED),
        ((None, None), "", MARGIN_UNDATED),
    ],
)
def test_a_margin_that_no_plan_holds_was_given_after_the_runs(
    margins: tuple[float | None, float | None], reason: str, label: str
) -> None:
    rng = np.random.default_rng(0)
    base, new = (
        experiment(side, [replace(metric("acc"), margin=margin)], {"acc": rng.normal(0, 1, 8).tolist()})
        for side, margin in zip("ab", margins, strict=True)
    )
    plan = PrimaryChoice("acc", reason) if reason else None
    sides = replace(base, primary=plan), replace(new, primary=plan)
    headline = judge(sides, margin=50).pairs[0].headline
    assert headline is not None
    assert headline.verdict.word == "equivalent"
    assert date_margin(headline, *sides) == label
    assert headline.verdict.reason.endswith(MARGIN_AFTER) == (label == MARGIN_AFTER)


def test_a_planned_metric_is_replaced_only_where_no_run_reports_it_and_none_failed() -> None:
    names, plan = ("acc", "f1"), PrimaryChoice("f1", "measured on test data")
    sides = [
        replace(experiment(side, [metric(name) for name in names], {"acc": [0.1, 0.2, 0.3, 0.4, 0.5]}), primary=plan)
        for side in "ab"
    ]
    assert judge(sides).primary == "acc"
    failed = replace(sides[1], runs=(*sides[1].runs[:-1], replace(sides[1].runs[-1], status="crashed", series={})))
    assert judge([sides[0], failed]).primary == "f1"
