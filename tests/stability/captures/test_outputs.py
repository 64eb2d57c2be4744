"""What a model put out is read by its shape, its values and the truth."""

import numpy as np
import pytest

from deviate.errors import RecordError
from deviate.stability.captures.outputs import classes_of, common_kind, form_of, recount, score_kind


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def softmax(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


LOGITS = rng().normal(size=(20, 4)).astype(np.float32)
CLASSES = rng().integers(0, 4, 20)


def kind_of(outputs: np.ndarray, truth: np.ndarray | None) -> str | None:
    form = form_of(outputs, truth)
    return score_kind(form.rows(outputs), form)


def test_scores_of_classes_are_told_by_their_values() -> None:
    assert kind_of(LOGITS, CLASSES) == "logits"
    assert kind_of(softmax(LOGITS), CLASSES) == "probabilities"
    assert kind_of(np.log(softmax(LOGITS)), CLASSES) == "log-probabilities"


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_rounded_probabilities_of_many_classes_are_probabilities(kind) -> None:
    shares = softmax(rng().normal(size=(50, 1000)) * 4).astype(kind)
    assert kind_of(shares, rng().integers(0, 1000, 50)) == "probabilities"


def test_scores_below_zero_alone_are_no_log_probabilities() -> None:
    assert kind_of(LOGITS - 10, CLASSES) == "logits"


def test_rows_that_are_not_finite_tell_nothing_of_the_kind() -> None:
    shares = softmax(LOGITS)
    shares[3, 1], shares[5] = np.nan, np.inf
    assert kind_of(shares, CLASSES) == "probabilities"
    assert kind_of(np.full_like(LOGITS, np.nan), CLASSES) is None
    assert common_kind({None, "probabilities"}) == "probabilities"
    assert common_kind({None}) == "logits"


def test_scores_without_truth_are_taken_for_scores_of_classes() -> None:
    assert kind_of(LOGITS, None) == "logits"


@pytest.mark.parametrize("shape", [(20,), (20, 1)])
def test_one_score_beside_two_classes_is_that_of_the_second(shape) -> None:
    scores = rng().normal(size=shape)
    form = form_of(scores, np.arange(20) % 2)
    assert (form.kind, form.rows(scores).shape) == ("binary", (20,))
    assert kind_of(scores, np.arange(20) % 2) == "logits"
    assert kind_of(1 / (1 + np.exp(-scores)), (np.arange(20) % 2).astype(np.float32)) == "probabilities"


def test_classes_of_minus_and_plus_one_are_the_first_and_the_second() -> None:
    truth = np.array([-1, 1, -1])
    form = form_of(np.array([0.5, -2.0, 1.5]), truth)
    assert classes_of(truth, form).tolist() == [0, 1, 0]


def test_whole_numbers_are_classes_and_others_values() -> None:
    assert kind_of(np.array([2, 0, 1]), np.array([2, 1, 1])) == "labels"
    assert kind_of(np.array([2.0, 0.0, 1.0]), np.array([2.0, 1.0, 1.0])) == "labels"
    assert kind_of(np.array([[2], [0]]), np.array([2, 1])) == "labels"
    assert kind_of(np.array([2.5, 0.0, 1.0]), np.array([2.25, 1.0, 1.0])) == "values"
    assert kind_of(np.array([2.5, 0.0, 1.0]), None) == "values"


def test_one_hot_truth_becomes_classes() -> None:
    truth = np.eye(4)[CLASSES]
    form = form_of(LOGITS, truth)
    assert classes_of(truth, form).tolist() == CLASSES.tolist()


@pytest.mark.parametrize("truth", [CLASSES[:, None], CLASSES.astype(np.float32)])
def test_classes_in_a_column_or_as_floats_are_classes(truth) -> None:
    form = form_of(LOGITS, truth)
    assert classes_of(truth, form).tolist() == CLASSES.tolist()


def test_several_labels_of_an_example_count_one_by_one() -> None:
    truth = rng().integers(0, 2, (20, 4))
    form = form_of(LOGITS, truth)
    assert (form.kind, form.n_parts, form.rows(LOGITS).shape) == ("binary", 4, (80,))
    assert classes_of(truth, form).tolist() == truth.reshape(-1).tolist()
    assert form.notes == ("Each of the 4 parts of an example counts as an example.",)


def test_several_values_of_an_example_count_one_by_one() -> None:
    form = form_of(LOGITS, LOGITS + 0.25)
    assert (form.kind, form.n_parts) == ("values", 4)


@pytest.mark.parametrize(("shape", "axis"), [((5, 3, 6, 2), 1), ((5, 6, 2, 3), 3)])
def test_pixels_count_one_by_one_wherever_their_classes_stand(shape, axis) -> None:
    scores, truth = rng().normal(size=shape), rng().integers(0, 3, (5, 6, 2))
    form = form_of(scores, truth)
    assert (form.class_axis, form.n_parts, form.n_columns) == (axis, 12, 3)
    predicted = np.argmax(form.rows(scores), axis=1)
    assert predicted.tolist() == np.argmax(scores, axis=axis).reshape(-1).tolist()
    assert classes_of(truth, form).tolist() == truth.reshape(-1).tolist()


def test_shapes_that_do_not_go_together_are_left_out_with_the_reason() -> None:
    with pytest.raises(RecordError, match=r"[(]3, 6, 2[)]"):
        form_of(rng().normal(size=(5, 3, 6, 2)), None)
    with pytest.raises(RecordError, match="do not match"):
        form_of(rng().normal(size=(5, 3, 6)), rng().integers(0, 3, (5, 7)))
    with pytest.raises(RecordError, match="complex"):
        form_of(np.zeros((5, 3), np.complex64), None)
    with pytest.raises(RecordError, match="no outputs"):
        form_of(np.zeros((0, 3), np.float32), None)


def test_kinds_that_differ_between_runs_are_scores_as_such() -> None:
    assert common_kind({"probabilities"}) == "probabilities"
    assert common_kind({"probabilities", "logits"}) == "logits"


def test_classes_that_no_array_could_count_are_counted_anew() -> None:
    assert recount(np.array([0, 1, 9])) is None
    assert recount(np.array([-1, 1])).tolist() == [-1, 1]
    assert recount(np.array([281, 5_000_000])).tolist() == [281, 5_000_000]
