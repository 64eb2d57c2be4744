"""Error of an accuracy from its test examples: known only where their number is."""

import math
from dataclasses import replace

import pytest
from samples import metric, run

from deviate.model.estimates import NOT_APPLICABLE, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import EvaluationData, Run
from deviate.stats.estimates.sampling import examples_of, is_proportion, sampling_error

SCORES = [0.9341, 0.9352, 0.9337, 0.9346]


def evaluated(*n_examples: int) -> list[Run]:
    return [replace(run(i, {}), evaluation=(EvaluationData("torch", "5f1c", n),)) for i, n in enumerate(n_examples)]


def test_the_error_is_binomial_and_in_the_unit_of_the_metric() -> None:
    expected = math.sqrt(0.93 * 0.07 / 10_000)
    accuracy = metric("test_acc")
    assert sampling_error([0.92, 0.94], accuracy, 10_000) == pytest.approx(expected)
    assert sampling_error([92.0, 94.0], accuracy, 10_000) == pytest.approx(100 * expected)
    assert sampling_error([0.07, 0.07], metric("test_error", direction="min"), 10_000) == pytest.approx(expected)


def test_a_unit_of_percent_decides_where_scores_do_not() -> None:
    found = sampling_error([0.8, 0.9], replace(metric("error_rate", direction="min"), unit="%"), 10_000)
    assert found == pytest.approx(100 * math.sqrt(0.0085 * 0.9915 / 10_000))


@pytest.mark.parametrize("name", ["test_acc", "val_accuracy", "Acc@1", "top5", "test_err", "error_rate", "prec1"])
def test_names_of_accuracies_and_error_rates_are_told(name: str) -> None:
    assert is_proportion(metric(name))


@pytest.mark.parametrize("name", ["test_loss", "f1", "balanced_accuracy", "mean_squared_error", "auc", "acc_loss"])
def test_names_of_other_metrics_are_told_from_them(name: str) -> None:
    assert not is_proportion(metric(name))
    assert sampling_error(SCORES, metric(name), None) == NOT_APPLICABLE


def test_what_the_user_says_counts_even_for_names_that_say_nothing_but_not_for_other_metrics() -> None:
    assert isinstance(sampling_error(SCORES, metric("x"), 500), float)
    assert sampling_error(SCORES, metric("f1"), 500) == NOT_APPLICABLE
    assert examples_of(replace(metric("x"), n_examples=500), SCORES, []) == 500


def test_the_number_of_examples_is_that_of_the_evaluation_that_every_run_made() -> None:
    assert examples_of(metric("test_acc"), SCORES, evaluated(10_000, 10_000, 10_000, 10_000)) == 10_000


def test_scores_that_no_such_number_of_examples_can_give_leave_it_unknown() -> None:
    """The evaluation that was seen was of other data: fewer examples, or the test set among more."""
    for n_examples in (5_000, 7_777, 60_000, 70_000):
        assert examples_of(metric("test_acc"), SCORES, evaluated(*[n_examples] * 4)) is None


def test_scores_of_single_precision_are_still_whole_numbers_of_examples() -> None:
    rounded = [0.76130002737045, 0.76134002208709, 0.76119998097420]
    assert examples_of(metric("top1"), rounded, evaluated(50_000, 50_000, 50_000)) == 50_000


def test_runs_that_evaluated_different_numbers_or_none_leave_it_unknown() -> None:
    accuracy = metric("test_acc")
    assert examples_of(accuracy, SCORES, evaluated(10_000, 10_000, 10_000, 5_000)) is None
    assert examples_of(accuracy, SCORES, [*evaluated(10_000, 10_000, 10_000), run(3, {})]) is None
    assert examples_of(accuracy, SCORES, []) is None
    assert examples_of(metric("test_loss"), SCORES, evaluated(10_000, 10_000, 10_000, 10_000)) is None
    assert sampling_error(SCORES, accuracy, None) == Unavailable(Reason.EXAMPLES_UNKNOWN)


def test_a_share_that_is_no_count_of_its_examples_is_said_to_be_that() -> None:
    scores = [84.375, 82.8125, 85.0]
    found = sampling_error(scores, metric("test_acc"), None, evaluated(260, 260, 260))
    assert isinstance(found, Unavailable)
    assert found.reason == Reason.NOT_WHOLE(84.375, "%", 260)
    assert sampling_error(SCORES, metric("test_acc"), None, evaluated(260, 261)) == Unavailable(Reason.EXAMPLES_UNKNOWN)


def test_degenerate_shares_have_named_answers() -> None:
    accuracy = metric("test_acc")
    assert sampling_error([], accuracy, 100) == Unavailable(Reason.TOO_FEW(1, "run", 0))
    assert sampling_error([math.nan], accuracy, 100) == Unavailable(Reason.NO_NUMBER)
    assert sampling_error([1.0, 1.0], accuracy, 100) == Unavailable(Reason.ALL_OR_NONE)
    assert sampling_error([0, 0], accuracy, 100) == Unavailable(Reason.ALL_OR_NONE)
    assert sampling_error([-0.5, 0.5], accuracy, 100) == NOT_APPLICABLE
    assert sampling_error([250.0], accuracy, 100) == NOT_APPLICABLE
    assert sampling_error([0.5], accuracy, 0) == NOT_APPLICABLE
