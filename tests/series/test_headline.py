"""The headline: a pure function of what a run reported, never of how good a value is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import metric

from deviate.model.analysis import Role
from deviate.model.metric_vocabulary import direction_of, split_identifier
from deviate.model.plan import PrimaryChoice, SelectedMetric
from deviate.model.records import Series
from deviate.series.headline import (
    DATA_ORDER,
    DECLARED,
    FIRST,
    ONLY,
    choose_headline,
    find_primary,
    is_result,
    order_of_results,
)
from deviate.series.words import Data, kind_of

ROLES: dict[str, Role] = {"result": "quality", "loss": "quality", "time": "time", "setting": "other", "none": "other"}


def reported(words: str) -> SelectedMetric:
    """A metric as the catalog names it after the words of a line."""
    one = metric(
        "_".join(split_identifier(words)), direction=direction_of(split_identifier(words)), role=ROLES[kind_of(words)]
    )
    return replace(one, metric=replace(one.metric, words=words))


ALONG = Series((0, 1, 2), (0.1, 0.2, 0.3), (1.0, 2.0, 3.0))
AFTER = Series((None,), (0.3,), (9.0,))
TRAINED = 5.0


def headline(along: Sequence[str], after: Sequence[str] = (), trained_s: float | None = TRAINED) -> tuple[str, str]:
    """Words and reason of what leads among series that are reported along the way and after training."""
    metrics = [reported(words) for words in (*along, *after)]
    series = {one.name: ALONG if index < len(along) else AFTER for index, one in enumerate(metrics)}
    found = choose_headline(metrics, series, trained_s)
    assert found is not None
    return next(one.metric.words for one in metrics if one.name == found.choice.name), found.choice.reason


@pytest.mark.parametrize(
    ("along", "after", "leads", "reason"),
    [
        (["epoch", "lr", "time", "zorp"], [], "zorp", ONLY),
        (["train loss", "val loss"], [], "val loss", "measured on data that is not trained on"),
        (["train acc", "loss"], [], "loss", "measured on data that is not trained on"),
        (["acc", "val acc"], [], "val acc", "measured on data that is not trained on"),
        (["val acc", "test acc"], ["Best val acc"], "Best val acc", "announced after training"),
        (["val acc"], ["train acc"], "val acc", "measured on data that is not trained on"),
        (["val AUC"], ["test loss"], "test loss", "announced after training"),
        (["val acc", "test acc"], [], "test acc", "of test data, by its name"),
        (["zorp", "val loss"], [], "val loss", "of validation data, by its name"),
        (["val loss", "val zorp"], [], "val zorp", "a measure of merit before a loss"),
        (["val acc", "val perplexity"], [], "val perplexity", "a measure of merit before a loss"),
        ([], ["class 0 IoU", "mean IoU"], "mean IoU", "the whole before a part"),
        ([], ["precision", "recall", "F1"], "F1", "an overall measure before one side of it"),
        ([], ["accuracy", "F1"], "accuracy", FIRST),
        ([], ["ep len mean", "ep rew mean"], "ep rew mean", "an overall measure before one side of it"),
        ([], ["test reconstruction error", "test PCA with components"], "test reconstruction error", FIRST),
        ([], ["max return", "return"], "return", "an overall measure before one side of it"),
        ([], ["CV AUC", "CV AUC std"], "CV AUC", ONLY),
    ],
)
def test_the_first_difference_decides(along: list[str], after: list[str], leads: str, reason: str) -> None:
    assert headline(along, after) == (leads, reason)


def test_what_only_the_order_sets_apart_is_marked() -> None:
    found = choose_headline([reported("accuracy"), reported("F1")], {})
    assert found is not None
    assert found.is_by_order
    assert found.choice == PrimaryChoice("accuracy", FIRST, ("f1",))


def test_an_unknown_direction_is_no_reason_to_be_passed_over() -> None:
    metrics = [reported("zorp"), reported("flub")]
    assert [one.direction for one in metrics] == [None, None]
    assert find_primary(metrics) == "zorp"


def test_before_a_run_names_alone_tell_and_a_series_that_was_not_reported_leads_nothing() -> None:
    metrics = [reported("train loss"), reported("val acc"), reported("test acc")]
    assert find_primary(metrics) == "test_acc"
    found = choose_headline(metrics, {"train_loss": ALONG, "val_acc": ALONG}, TRAINED)
    assert found is not None
    assert found.choice.name == "val_acc"


def test_what_the_user_declares_comes_before_everything_and_two_decide_nothing() -> None:
    metrics = [reported("test acc"), replace(reported("train loss"), is_primary=True)]
    found = choose_headline(metrics, {})
    assert found is not None
    assert found.choice == PrimaryChoice("train_loss", DECLARED)
    assert choose_headline([replace(one, is_primary=True) for one in metrics], {}) is None


def test_the_planned_one_is_primary_while_it_is_there() -> None:
    metrics = [reported("test acc"), reported("train loss")]
    assert find_primary(metrics, PrimaryChoice("train_loss", FIRST)) == "train_loss"
    assert find_primary(metrics, PrimaryChoice("gone", FIRST)) == "test_acc"


def test_without_a_result_nothing_leads() -> None:
    assert choose_headline([], {}) is None
    assert choose_headline([reported("lr"), reported("epoch time")], {}) is None


def test_where_training_ended_tells_what_is_announced_even_without_a_loop() -> None:
    early, late = Series((None,), (0.5,), (1.0,)), Series((None,), (0.5,), (9.0,))
    metrics = [reported("accuracy before"), reported("accuracy")]
    series = {metrics[0].name: early, metrics[1].name: late}
    found = [choose_headline(metrics, series, trained_s) for trained_s in (TRAINED, None)]
    assert [one and one.choice.name for one in found] == ["accuracy", "accuracy_before"]


def test_what_is_reported_again_and_again_in_a_pass_comes_after_what_is_reported_of_all_of_it() -> None:
    passing, whole = reported("test acc avg"), reported("acc")
    passing = replace(passing, metric=replace(passing.metric, is_progress=True))
    found = choose_headline([passing, whole], dict.fromkeys([passing.name, whole.name], ALONG), TRAINED)
    assert found is not None
    assert found.choice == PrimaryChoice("acc", "a whole pass before a part of it", ("test_acc_avg",))


def test_a_measure_with_a_number_is_no_part_unless_it_is_reported_without() -> None:
    assert headline([], ["R@5", "MRR"])[0] == "R@5"
    assert headline([], ["FID@2", "FID"])[0] == "FID"
    assert headline([], ["task accuracy", "F1"])[0] == "task accuracy"
    for part in ("task 1 accuracy", "task B accuracy", "per class results road IoU"):
        assert headline([], [part, "F1"])[0] == "F1"


def test_a_series_over_trainings_is_a_part() -> None:
    fold = reported("AUC")
    fold = replace(fold, metric=replace(fold.metric, over="fold"))
    assert find_primary([fold, reported("pooled AUC")]) == "pooled_auc"


SAID = (
    "train_loss", "val_loss", "test_loss", "loss", "acc", "val_acc", "test_acc", "mean IoU", "class 0 IoU", "F1",
    "precision", "lr", "epoch time", "perplexity", "val zorp", "zorp", "CV AUC", "CV AUC std", "best val acc",
)  # fmt: skip
WORDS = st.lists(st.sampled_from(SAID), min_size=1, unique=True)
VALUES = st.floats(allow_nan=True)


@given(WORDS, st.data())
def test_no_value_and_no_other_run_changes_what_leads(words: list[str], data: st.DataObject) -> None:
    metrics = [reported(one) for one in words]
    steps = {one.name: data.draw(st.sampled_from([ALONG, AFTER])) for one in metrics}

    def changed(series: Mapping[str, Series]) -> dict[str, Series]:
        return {name: replace(one, values=tuple(data.draw(VALUES) for _ in one.values)) for name, one in series.items()}

    first = choose_headline(metrics, steps, TRAINED)
    assert choose_headline(metrics, changed(steps), TRAINED) == first
    assert (first is None) == (not any(map(is_result, metrics)))
    if first is not None:
        assert first.choice.name not in first.choice.others
        assert {first.choice.name, *first.choice.others} == {one.name for one in metrics if is_result(one)}


@given(WORDS)
def test_metrics_are_shown_from_the_primary_one_over_results_losses_and_times_to_the_rest(words: list[str]) -> None:
    metrics = [reported(one) for one in words]
    ordered = order_of_results(metrics, metrics[-1].name)
    assert ordered[0] == metrics[-1]
    assert sorted(one.name for one in ordered) == sorted(one.name for one in metrics)
    kinds = ["result", "loss", "time", "setting"]
    places = [kinds.index(kind_of(one.metric.words)) for one in ordered[1:]]
    assert places == sorted(places)


def test_test_data_come_first_among_results() -> None:
    metrics = [reported(words) for words in ("train acc", "acc", "val acc", "test loss", "test acc", "lr", "took")]
    assert [one.metric.words for one in order_of_results(metrics, "acc")] == [
        "acc", "test acc", "val acc", "train acc", "test loss", "took", "lr",
    ]  # fmt: skip
    assert set(DATA_ORDER) == set(get_args(Data))
