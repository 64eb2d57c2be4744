import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import special

from deviate.stability.measures import pairwise
from deviate.stability.measures.pairwise import ensemble_deltas

Array = npt.NDArray[Any]
Kind = Literal["logits", "log-probabilities", "probabilities"]

few = settings(max_examples=30, deadline=None)


def plain_deltas(outputs: Array, kind: Kind, truth: Array) -> tuple[Array, Array]:
    """Pair by pair, as the definition reads."""
    n_runs = len(outputs)
    accuracy, loss = np.zeros((n_runs, n_runs)), np.zeros((n_runs, n_runs))
    for i in range(n_runs):
        for j in range(n_runs):
            if i != j:
                wide = outputs.astype(np.float64)
                members = [measured(outputs[k], wide[k], kind, truth) for k in (i, j)]
                together = measured((outputs[i] + outputs[j]) / 2, (wide[i] + wide[j]) / 2, kind, truth)
                accuracy[i, j] = np.mean([together[0] - member[0] for member in members])
                loss[i, j] = np.mean([together[1] - member[1] for member in members])
    return accuracy, loss


def measured(scores: Array, wide: Array, kind: Kind, truth: Array) -> tuple[float, float]:
    """Classes in the precision of the outputs, logarithms in float64."""
    logs = np.log(wide) if kind == "probabilities" else special.log_softmax(wide, axis=1)
    return float(np.mean(scores.argmax(axis=1) == truth)), -float(np.mean(logs[np.arange(len(truth)), truth]))


def check(outputs: Array, kind: Kind, truth: Array) -> None:
    found, expected = ensemble_deltas(outputs, kind, truth), plain_deltas(outputs, kind, truth)
    n = len(truth)
    # Counts are those of a loop to the last one: shares of them differ by rounding alone.
    assert (np.rint(2 * n * found[0]) == np.rint(2 * n * expected[0])).all()
    np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-12)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Array, Array]:
    """Logits with ties, between classes and between runs, and true classes."""
    n_runs, n, n_classes = draw(st.integers(1, 5)), draw(st.integers(1, 20)), draw(st.integers(1, 5))
    numbers = draw(st.sampled_from([st.integers(-2, 2), st.integers(-900, 900).map(lambda k: k / 32)]))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    outputs = draw(arrays.arrays(dtype, (n_runs, n, n_classes), elements=numbers.map(float)))
    truth = draw(
        arrays.arrays(draw(st.sampled_from(["int32", "int64", "uint8"])), n, elements=st.integers(0, n_classes - 1))
    )
    return outputs, truth


def some(n_runs: int = 4, n: int = 50, n_classes: int = 3, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    outputs = 2 * (np.arange(n_classes) == truth[:, None]) + 2 * rng.normal(size=(n_runs, n, n_classes))
    return outputs, truth


def test_logits_have_the_deltas_known_from_hand() -> None:
    one, other = [[2, 0], [0, 1], [0, 3], [1, 0]], [[0, 1], [0, 2], [3, 1], [2, 0]]
    accuracy, loss = ensemble_deltas(np.array([one, other], dtype=np.float64), "logits", np.array([0, 1, 1, 0]))
    assert accuracy.tolist() == [[0, 0.25], [0.25, 0]]
    assert loss[0, 1] == pytest.approx(-0.224265, abs=1e-6)
    assert loss[0, 1] == loss[1, 0]
    assert np.diagonal(loss).tolist() == [0, 0]


@few
@given(cases())
def test_deltas_of_logits_are_those_of_a_loop(case: tuple[Array, Array]) -> None:
    outputs, truth = case
    check(outputs, "logits", truth)
    check(special.log_softmax(outputs.astype(np.float64), axis=2), "log-probabilities", truth)


@few
@given(cases())
def test_deltas_of_probabilities_are_those_of_a_loop(case: tuple[Array, Array]) -> None:
    outputs, truth = case
    check(special.softmax(outputs, axis=2), "probabilities", truth)


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(70, 150, 4), (3, 700, 40), (60, 9, 300)])
def test_more_than_fits_a_piece_gives_what_a_loop_gives(
    kind: Kind, dtype: Any, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairwise, "CACHE_BYTES", 2**14)
    monkeypatch.setattr(pairwise, "PIECE_BYTES", 2**17)
    outputs, truth = some(*shape)
    scores = (special.softmax(outputs, axis=2) if kind == "probabilities" else outputs).astype(dtype)
    few_runs = [0, 1, shape[0] - 1]
    found = [delta[np.ix_(few_runs, few_runs)] for delta in ensemble_deltas(scores, kind, truth)]
    expected = plain_deltas(scores[few_runs], kind, truth)
    np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-12)


def test_of_equal_means_the_first_counts_as_rounding_leaves_them() -> None:
    """The two sums differ by less than float32 tells apart: what is a tie there is none in float64."""
    tiny = np.float32(2**-30)
    outputs = np.array([[[1.0, 0.0]], [[0.0, 1.0]]], dtype=np.float32)
    outputs[0, 0, 1] = tiny
    found = {}
    for dtype in (np.float32, np.float64):
        scores = outputs.astype(dtype)
        for truth in (0, 1):
            found[dtype, truth] = ensemble_deltas(scores, "logits", np.array([truth]))[0][0, 1]
            check(scores, "logits", np.array([truth]))
    assert found == {(np.float32, 0): 0.5, (np.float32, 1): -0.5, (np.float64, 0): -0.5, (np.float64, 1): 0.5}


@few
@given(cases(), st.data())
def test_order_of_runs_and_of_examples_tells_nothing(case: tuple[Array, Array], data: st.DataObject) -> None:
    outputs, truth = case
    order = data.draw(st.permutations(range(len(truth))))
    places = data.draw(st.permutations(range(len(outputs))))
    found = ensemble_deltas(outputs, "logits", truth)
    for changed, at in (
        (ensemble_deltas(outputs[:, order], "logits", truth[order]), range(len(outputs))),
        (ensemble_deltas(outputs[places], "logits", truth), places),
    ):
        for delta, expected in zip(changed, found, strict=True):
            np.testing.assert_allclose(delta, expected[np.ix_(at, at)], rtol=1e-12, atol=1e-12)


def test_what_logits_have_in_common_does_not_count() -> None:
    outputs, truth = some()
    probabilities = special.log_softmax(outputs, axis=2)
    one, other = ensemble_deltas(outputs, "logits", truth), ensemble_deltas(probabilities, "log-probabilities", truth)
    assert (one[0] == other[0]).all()
    np.testing.assert_allclose(one[1], other[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [30.0, 300.0, 3e3, 1e5])
def test_confident_and_wrong_logits_lose_no_digits(size: float) -> None:
    """Exponentials of them leave the range of floats alone, in a product of eight, or not at all."""
    outputs, truth = some(n_runs=5, n=100, n_classes=4)
    found, expected = ensemble_deltas(size * outputs, "logits", truth), plain_deltas(size * outputs, "logits", truth)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-11)
    assert (found[0] == ensemble_deltas(outputs, "logits", truth)[0]).all()


def test_members_that_balance_each_other_leave_what_is_left() -> None:
    outputs = np.array([[[0.0, 4e3]], [[4e3, 0.0]]])
    loss = ensemble_deltas(outputs, "logits", np.array([0]))[1][0, 1]
    assert loss == pytest.approx(math.log(2) - 2e3, rel=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_as_large_as_floats_go_have_a_mean(dtype: Any) -> None:
    largest = float(np.finfo(dtype).max)
    outputs = np.array([[[largest, 0]], [[0.9 * largest, 0.95 * largest]], [[0, 0.9 * largest]]], dtype=dtype)
    accuracy, _ = ensemble_deltas(outputs, "logits", np.array([0]))
    assert accuracy.tolist() == [[0, 0.5, 0.5], [0.5, 0, 0.0], [0.5, 0.0, 0]]


def test_the_smallest_floats_are_told_apart() -> None:
    small = math.ulp(0.0)
    outputs = np.array([[[0.0, small]], [[0.0, small]], [[small, 0.0]]])
    accuracy, loss = ensemble_deltas(outputs, "logits", np.array([1]))
    assert accuracy.tolist() == [[0, 0, -0.5], [0, 0, -0.5], [-0.5, -0.5, 0]]
    assert loss == pytest.approx(0, abs=1e-15)


def test_small_probabilities_keep_their_logarithm_and_zeros_are_told() -> None:
    right = np.array([[1e-300] * 9, [1e-200] * 9, [0.0] * 9, [0.0] * 9])
    outputs = np.stack([right, 1 - right], axis=2)
    _, loss = ensemble_deltas(outputs, "probabilities", np.zeros(9, dtype=int))
    members = -np.log(right[:2, 0])
    assert loss[0, 1] == pytest.approx(-math.log(5e-201) - members.mean(), rel=1e-12)
    assert loss[0, 2] == -math.inf
    assert math.isnan(loss[2, 3])


def test_probabilities_whose_product_is_subnormal_keep_their_digits() -> None:
    right = np.array([[1e-300, 1e-20, 0.3, 0.7], [2e-300, 3e-20, 0.5, 0.1]])
    _, loss = ensemble_deltas(np.stack([right, 1 - right], axis=2), "probabilities", np.zeros(4, dtype=int))
    assert loss[0, 1] == pytest.approx(np.log(right).mean() - np.log(right.mean(axis=0)).mean(), rel=1e-13)


def test_a_logit_of_minus_infinity_is_a_class_that_cannot_be() -> None:
    outputs = np.array([[[-math.inf, 1.0, 0.0]], [[0.0, 2.0, 1.0]], [[-math.inf, 0.0, 1.0]]])
    accuracy, loss = ensemble_deltas(outputs, "logits", np.array([1]))
    assert accuracy[0, 1:].tolist() == [0, 0.5]
    alone = [math.log1p(math.exp(-1)), math.log(math.exp(-2) + 1 + math.exp(-1)), math.log1p(math.e)]
    assert loss[0, 1] == pytest.approx(math.log1p(math.exp(-1)) - (alone[0] + alone[1]) / 2, rel=1e-12)
    assert loss[0, 2] == pytest.approx(math.log(2) - (alone[0] + alone[2]) / 2, rel=1e-12)
    impossible = ensemble_deltas(outputs, "logits", np.array([0]))[1]
    assert np.isnan(impossible[0, 1])


@pytest.mark.parametrize("odd", [math.nan, math.inf])
@pytest.mark.parametrize("kind", ["logits", "probabilities"])
def test_a_run_that_diverged_has_no_number_and_changes_none(odd: float, kind: Kind) -> None:
    outputs, truth = some()
    outputs = special.softmax(outputs, axis=2)
    hurt = outputs.copy()
    hurt[2, 7, 1] = odd
    others = [0, 1, 3]
    for found, expected in zip(
        ensemble_deltas(hurt, kind, truth), ensemble_deltas(outputs[others], kind, truth), strict=True
    ):
        assert np.isnan(found[2]).all()
        assert np.isnan(found[:, 2]).all()
        np.testing.assert_allclose(found[np.ix_(others, others)], expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
def test_a_true_class_without_a_score_is_never_right(kind: Kind) -> None:
    outputs, truth = some()
    outputs = special.softmax(outputs, axis=2)
    strange = truth.copy()
    strange[:10] = [-1, 3, 200, -100, 3, 3, 3, 3, 3, 3]
    accuracy, loss = ensemble_deltas(outputs, kind, strange)
    kept = ensemble_deltas(outputs[:, 10:], kind, truth[10:])[0]
    np.testing.assert_allclose(accuracy, kept * 40 / 50, rtol=0, atol=1e-15)
    assert np.isnan(loss[0, 1])


@pytest.mark.parametrize("shape", [(0, 4, 3), (1, 4, 3), (2, 1, 2), (3, 4, 1), (2, 0, 3)])
def test_any_number_of_runs_examples_and_classes_has_an_answer(shape: tuple[int, ...]) -> None:
    outputs = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
    for kind in ("logits", "probabilities"):
        for found in ensemble_deltas(outputs, kind, np.zeros(shape[1], dtype=int)):
            assert found.shape == (shape[0], shape[0])
            assert np.isnan(found).all() == (shape[1] == 0 or shape[0] == 0)


def test_half_precision_is_averaged_in_single() -> None:
    outputs, truth = some(n=200)
    half = outputs.astype(np.float16)
    for found, expected in zip(
        ensemble_deltas(half, "logits", truth), ensemble_deltas(half.astype(np.float32), "logits", truth), strict=True
    ):
        assert (found == expected).all()
