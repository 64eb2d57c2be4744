import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats as scipy_stats

from deviate.stability.measures import blocks, pairwise
from deviate.stability.measures.pairwise import disagreement, linear_cka, normalised_distances, pearson, spearman

Array = npt.NDArray[Any]
Measure = Callable[[Array], Array]

few = settings(max_examples=30, deadline=None)
OF_OUTPUTS = pytest.mark.parametrize("measure", [pearson, spearman, linear_cka])


def outputs_of(dtype: str, *, ties: bool) -> st.SearchStrategy[Array]:
    """(R, N, C) numbers that float32 holds, whole ones where there are to be ties."""
    numbers = st.integers(-3, 3) if ties else st.integers(-4000, 4000).map(lambda k: k / 16)
    shapes = arrays.array_shapes(min_dims=3, max_dims=3, min_side=1, max_side=6)
    return shapes.flatmap(lambda shape: arrays.arrays(dtype, shape, elements=numbers.map(float)))


outputs = st.tuples(st.sampled_from(["float32", "float64"]), st.booleans()).flatmap(
    lambda how: outputs_of(how[0], ties=how[1])
)
labels = arrays.arrays(
    st.sampled_from(["int8", "uint8", "int32", "int64", "uint64"]),
    arrays.array_shapes(min_dims=2, max_dims=2, max_side=9),
    elements=st.integers(0, 4),
)


def logits(n_runs: int = 5, n: int = 40, n_classes: int = 3, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_classes)) * 3 + rng.normal(size=(n_runs, n, n_classes))


def over_all_pairs(function: Callable[[Array, Array], float], runs: Array) -> Array:
    return np.array([[function(one, other) for other in runs] for one in runs]).reshape(len(runs), len(runs))


def plain_correlation(one: Array, other: Array) -> float:
    x, y = (run.ravel().astype(np.float64) for run in (one, other))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()))


def plain_ranks(one: Array) -> Array:
    return scipy_stats.rankdata(one.ravel())


def plain_cka(one: Array, other: Array) -> float:
    x, y = (run.astype(np.float64).reshape(len(run), -1) for run in (one, other))
    if not np.ptp(x, axis=0).any() or not np.ptp(y, axis=0).any():
        return math.nan
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    crossed = np.linalg.norm(y.T @ x) ** 2
    return float(crossed / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)))


def plain_distance(one: Array, other: Array) -> float:
    x, y = (run.ravel().astype(np.float64) for run in (one, other))
    if not x.any() or not y.any():
        return math.nan
    return float(np.linalg.norm(x / np.linalg.norm(x) - y / np.linalg.norm(y)))


def close(found: Array, expected: Array) -> None:
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@few
@given(labels)
def test_disagreement_is_that_of_a_loop_to_the_last_bit(runs: Array) -> None:
    expected = over_all_pairs(lambda one, other: float(np.mean(one != other)), runs)
    np.testing.assert_array_equal(disagreement(runs), expected)


@pytest.mark.parametrize(
    ("low", "high"), [(-128, 127), (-1, 255), (0, 256), (-5, 70_000), (-(2**62), 2**62), (-(2**63), 2**63 - 1)]
)
def test_labels_far_apart_are_told_apart(low: int, high: int) -> None:
    runs = np.array([[low, high, low], [high, high, low]], dtype=np.int64)
    assert disagreement(runs)[0, 1] == 1 / 3


def test_churn_is_one_less_agreement() -> None:
    runs = np.array([[0, 1, 2, 3], [0, 1, 2, 0], [0, 1, 2, 3]])
    assert disagreement(runs).tolist() == [[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]]
    agreement = over_all_pairs(lambda one, other: float(np.mean(one == other)), runs)
    assert (disagreement(runs) == 1 - agreement).all()


@few
@given(outputs)
def test_correlations_are_those_of_a_loop(runs: Array) -> None:
    close(pearson(runs), over_all_pairs(plain_correlation, runs))
    close(spearman(runs), over_all_pairs(plain_correlation, np.array([plain_ranks(run) for run in runs])))


@few
@given(outputs)
def test_alignment_of_outputs_is_that_of_a_loop(runs: Array) -> None:
    close(linear_cka(runs), over_all_pairs(plain_cka, runs))


@few
@given(outputs)
def test_distances_of_weights_are_those_of_a_loop(runs: Array) -> None:
    layers = {"all but the last": runs[:, :-1], "last": runs[:, -1:]}
    close(normalised_distances(layers), over_all_pairs(plain_distance, runs))


@pytest.mark.parametrize(("dtype", "tile"), [(np.float16, 50), (np.float32, 7), (np.float64, 1024)])
def test_arrays_larger_than_a_piece_and_a_tile_give_what_a_loop_gives(
    dtype: Any, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = logits(n_runs=7, n=530, n_classes=19).astype(dtype)
    monkeypatch.setattr(pairwise, "TILE", tile)
    for module in (pairwise, blocks):
        monkeypatch.setattr(module, "PIECE_BYTES", 2**16)
    close(pearson(runs), over_all_pairs(plain_correlation, runs))
    close(spearman(runs), over_all_pairs(plain_correlation, np.array([plain_ranks(run) for run in runs])))
    close(linear_cka(runs), over_all_pairs(plain_cka, runs))
    close(normalised_distances({"all": runs}), over_all_pairs(plain_distance, runs))


def test_normalised_distance_knows_length_from_direction() -> None:
    w = np.array([3.0, -1.0, 2.0])
    runs = np.array([w, w, 3 * w, -w, [1.0, 3.0, 0.0]])
    found = normalised_distances({"w": runs})[0]
    assert found[:2].tolist() == [0, 0]
    assert found[2:] == pytest.approx([0, 2, math.sqrt(2)], abs=1e-15)


@pytest.mark.parametrize("apart", [1e-3, 1e-6, 1e-9, 1e-12])
def test_small_distances_keep_their_digits(apart: float) -> None:
    """2 - 2 cos would leave none of them below 1e-8; weights one bit apart are closer than that."""
    right_angle = np.array([[1.0, 0.0], [math.cos(apart), math.sin(apart)], [1.0, -apart]])
    found = normalised_distances({"w": right_angle})
    assert found[0, 1] == pytest.approx(2 * math.sin(apart / 2), rel=1e-12)
    assert found[1, 0] == found[0, 1]
    assert found[0, 2] == pytest.approx(apart, rel=max(1e-12, apart**2))


def test_layers_are_one_vector_whose_lengths_count() -> None:
    layers = {"long": np.array([[10.0, 0.0], [10.0, 0.0]]), "short": np.array([[0.1], [-0.1]])}
    together = normalised_distances(layers)[0, 1]
    assert together == pytest.approx(plain_distance(np.array([10, 0, 0.1]), np.array([10, 0, -0.1])))
    assert normalised_distances({"short": layers["short"]})[0, 1] == 2


@pytest.mark.parametrize(
    ("one", "other", "by_place", "by_average"),
    [([1, 2, 2, 3], [1, 3, 2, 4], 0.8, 0.948683), ([1, 2, 2, 2, 3], [3, 1, 2, 4, 5], 0.7, 0.447214)],
)
def test_ties_share_a_rank_unless_ranks_go_by_place(
    one: list[int], other: list[int], by_place: float, by_average: float
) -> None:
    runs = np.array([one, other], dtype=np.float64)
    assert spearman(runs)[0, 1] == pytest.approx(by_average, abs=5e-7)
    assert spearman(runs, ties_by_place=True)[0, 1] == pytest.approx(by_place, abs=1e-12)


@few
@given(outputs)
def test_ranks_by_place_are_those_of_a_stable_argsort(runs: Array) -> None:
    ranks = np.array([run.ravel().argsort(kind="stable").argsort(kind="stable") for run in runs])
    close(spearman(runs, ties_by_place=True), over_all_pairs(plain_correlation, ranks))


def test_alignment_has_the_values_known_from_hand() -> None:
    x = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    turn = np.array([[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]])
    wide = np.array([[1.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    found = linear_cka(np.array([x, x, 3 * x @ turn, wide]))[0]
    assert found[:2].tolist() == [1, 1]
    assert found[2:] == pytest.approx([1, 39 / (14 * math.sqrt(10))], rel=1e-12)
    assert found[3] == pytest.approx(0.880921, abs=1e-6)


@few
@given(outputs_of("float64", ties=False), st.integers(0, 99))
def test_alignment_sees_no_rotation_of_a_run(runs: Array, seed: int) -> None:
    n_classes = runs.shape[2]
    turn = scipy_stats.special_ortho_group.rvs(n_classes, random_state=seed) if n_classes > 1 else np.ones((1, 1))
    turned = runs.copy()
    turned[0] = turned[0] @ turn
    before, after = linear_cka(runs), linear_cka(turned)
    assert (np.isnan(before) >= np.isnan(after)).all()  # what is constant may be so no more after rounding
    kept = ~np.isnan(before)
    np.testing.assert_allclose(after[kept], before[kept], rtol=1e-9, atol=1e-9)


@OF_OUTPUTS
@few
@given(runs=outputs, data=st.data())
def test_order_of_runs_and_of_examples_tells_nothing(measure: Measure, runs: Array, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(runs.shape[1])))
    places = data.draw(st.permutations(range(len(runs))))
    found = measure(runs)
    close(measure(runs[:, order]), found)
    close(measure(runs[places]), found[np.ix_(places, places)])


@OF_OUTPUTS
@few
@given(runs=outputs_of("float64", ties=False), power=st.sampled_from([-1060, -500, -30, 1, 30, 500, 1000]))
def test_scores_of_any_size_are_alike_as_those_of_ordinary_size(measure: Measure, runs: Array, power: int) -> None:
    """Subnormal ones and those whose squares no float holds too."""
    scaled = runs.copy()
    scaled[0] = np.ldexp(scaled[0], power)
    close(measure(scaled), measure(runs))


@OF_OUTPUTS
def test_largest_floats_are_scores(measure: Measure) -> None:
    runs = logits()
    runs[0] /= np.abs(runs[0]).max()
    expected = measure(runs)
    runs[0] *= np.finfo(np.float64).max
    close(measure(runs), expected)


@OF_OUTPUTS
def test_matrices_are_symmetric_with_ones_and_equal_runs_are_exactly_alike(measure: Measure) -> None:
    runs = np.tile(logits(n_runs=4, n=1000), (20, 1, 1)).astype(np.float32)
    found = measure(runs)
    assert (found == found.T).all()
    assert (np.diagonal(found) == 1).all()
    equal = np.arange(80)[:, None] % 4 == np.arange(80) % 4
    assert (found[equal] == 1).all()
    assert (found[~equal] < 1).all()


@OF_OUTPUTS
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_run_that_diverged_has_no_number_and_changes_none(measure: Measure, odd: float) -> None:
    runs = logits()
    hurt = runs.copy()
    hurt[2, 7, 1] = odd
    found, others = measure(hurt), [0, 1, 3, 4]
    assert np.isnan(found[2]).all()
    assert np.isnan(found[:, 2]).all()
    close(found[np.ix_(others, others)], measure(runs[others]))


@OF_OUTPUTS
def test_outputs_that_do_not_vary_are_like_nothing(measure: Measure) -> None:
    runs = logits()
    runs[1] = 0.1  # whose mean over many examples is not 0.1
    found = measure(runs)
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[0, 2:]).all()


@OF_OUTPUTS
@pytest.mark.parametrize("shape", [(0, 4, 3), (1, 4, 3), (3, 0, 2), (2, 1, 1), (3, 5), (2, 4, 2, 2)])
def test_any_number_of_runs_examples_and_classes_has_an_answer(measure: Measure, shape: tuple[int, ...]) -> None:
    found = measure(np.arange(math.prod(shape), dtype=np.float64).reshape(shape) ** 2)
    assert found.shape == (shape[0], shape[0])
    assert np.isfinite(found).all() == (math.prod(shape[1:]) > 1)


def test_one_example_has_a_disagreement_and_none_has_no() -> None:
    assert disagreement(np.array([[1], [2]])).tolist() == [[0, 1], [1, 0]]
    assert np.isnan(disagreement(np.zeros((2, 0), dtype=np.int64))).all()
    assert disagreement(np.zeros((0, 3), dtype=np.int64)).shape == (0, 0)
    assert disagreement(np.array([[1, 2]])).tolist() == [[0]]


@pytest.mark.parametrize("weights", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_weights_without_a_direction_have_no_distance(weights: list[float]) -> None:
    found = normalised_distances({"w": np.array([[1.0, 0.0], weights, [0.0, 1.0]])})
    assert np.isnan(found[1]).all()
    assert found[0, 2] == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("power", [-1060, -600, 600, 1020])
def test_weights_of_any_size_have_a_distance(power: int) -> None:
    found = normalised_distances({"w": np.ldexp([[1.0, 0.0], [1.0, 1.0]], power), "none": np.zeros((2, 0))})
    assert found[0, 1] == pytest.approx(2 * math.sin(math.pi / 8), rel=1e-12)


def test_nothing_handed_in_is_changed() -> None:
    runs = logits().astype(np.float32)
    runs.flags.writeable = False
    predicted = runs.argmax(axis=2)
    predicted.flags.writeable = False
    for measure in (pearson, spearman, linear_cka):
        measure(runs)
    disagreement(predicted)
    normalised_distances({"w": runs})
