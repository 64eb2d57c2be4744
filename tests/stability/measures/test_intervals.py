import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from deviate.model.estimates import Interval, Unavailable
from deviate.model.stability import Measure
from deviate.stability.measures.intervals import difference_over_pairs, over_pairs, standard_error, without_each

Matrix = npt.NDArray[np.float64]

few = settings(max_examples=30, deadline=None)


@st.composite
def matrices(draw: st.DrawFn, smallest: int = 5, largest: int = 9) -> Matrix:
    """Symmetric ones whose numbers are dyadic, with a diagonal that means nothing."""
    n = draw(st.integers(smallest, largest))
    n_pairs = n * (n - 1) // 2
    matrix = np.full((n, n), math.nan)
    numbers = draw(st.lists(st.integers(0, 256), min_size=n_pairs, max_size=n_pairs))
    matrix[np.triu_indices(n, 1)] = np.array(numbers) / 256
    matrix.T[np.triu_indices(n, 1)] = np.array(numbers) / 256
    return matrix


def random_matrix(n: int, seed: int = 0) -> Matrix:
    """Distances of points in a plane."""
    points = np.random.default_rng(seed).normal(size=(n, 2))
    return np.array([[math.dist(one, other) for other in points] for one in points])


def mean_over_pairs(matrix: Matrix) -> float:
    n = len(matrix)
    return math.fsum(matrix[i, j] for i in range(n) for j in range(i)) / (n * (n - 1) / 2)


def plain_error(matrix: Matrix) -> float:
    """The mean anew without each run."""
    n = len(matrix)
    without = [mean_over_pairs(np.delete(np.delete(matrix, k, axis=0), k, axis=1)) for k in range(n)]
    centre = math.fsum(without) / n
    return math.sqrt((n - 1) / n * math.fsum((it - centre) ** 2 for it in without))


def value(measure: Measure) -> float:
    assert isinstance(measure.value, float)
    return measure.value


def ends(measure: Measure) -> tuple[float, float]:
    assert isinstance(measure.interval, Interval)
    return measure.interval.low, measure.interval.high


def reasons(measure: Measure) -> tuple[str | None, str | None]:
    return tuple(it.reason if isinstance(it, Unavailable) else None for it in (measure.value, measure.interval))


@few
@given(matrices())
def test_standard_error_is_that_of_leaving_out_each_run(matrix: Matrix) -> None:
    assert standard_error(without_each(matrix)) == pytest.approx(plain_error(matrix), rel=1e-9, abs=1e-14)


@few
@given(matrices(), st.sampled_from([0.9, 0.95, 0.99]))
def test_the_mean_over_pairs_lies_in_an_interval_of_t_over_runs(matrix: Matrix, confidence: float) -> None:
    found, error, n = over_pairs("cross-entropy-sd", matrix, confidence), plain_error(matrix), len(matrix)
    assert value(found) == pytest.approx(mean_over_pairs(matrix), rel=1e-15)
    if not isinstance(found.interval, Unavailable):
        low, high = scipy_stats.t.interval(confidence, n - 1, loc=mean_over_pairs(matrix), scale=error)
        assert ends(found) == pytest.approx((low, high), rel=1e-9)
        assert found.interval.confidence == confidence


@few
@given(matrices(), st.data())
def test_order_of_runs_tells_nothing(matrix: Matrix, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(matrix))))
    one, other = over_pairs("churn", matrix), over_pairs("churn", matrix[np.ix_(order, order)])
    assert other.value == one.value
    assert reasons(other) == reasons(one)
    if isinstance(one.interval, Interval):
        assert ends(other) == pytest.approx(ends(one), rel=1e-9, abs=1e-12)


@few
@given(matrices(), st.integers(-60, 60))
def test_the_unit_of_a_distance_does_not_matter(matrix: Matrix, power: int) -> None:
    one = over_pairs("ensemble-cross-entropy", matrix)
    other = over_pairs("ensemble-cross-entropy", np.ldexp(matrix, power))
    assert value(other) == value(one) * 2.0**power
    if isinstance(one.interval, Interval):
        assert ends(other) == pytest.approx([end * 2.0**power for end in ends(one)], rel=1e-12)


def test_no_interval_leaves_what_a_measure_can_be() -> None:
    matrix = np.zeros((6, 6))
    matrix[0] = matrix[:, 0] = 0.9
    assert ends(over_pairs("ensemble-cross-entropy", matrix))[0] < 0
    assert ends(over_pairs("churn", matrix))[0] == 0
    assert ends(over_pairs("pearson", 1 - matrix))[1] == 1
    assert ends(over_pairs("weight-distance", 2 - matrix))[1] == 2


@pytest.mark.parametrize(("n", "reason"), [(0, "no completed run"), (1, "1 run: no pair to compare")])
def test_a_pair_takes_two_runs(n: int, reason: str) -> None:
    assert reasons(over_pairs("churn", np.zeros((n, n)))) == (reason, reason)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_runs_have_a_mean_and_no_interval(n: int) -> None:
    found = over_pairs("churn", random_matrix(n) / 10)
    assert value(found) == pytest.approx(mean_over_pairs(random_matrix(n)) / 10)
    assert reasons(found) == (None, f"needs 5 runs, has {n}")


def test_pairs_without_spread_have_no_interval() -> None:
    assert over_pairs("churn", np.zeros((6, 6))).value == 0
    assert reasons(over_pairs("churn", np.zeros((6, 6)))) == (None, "all runs are alike")
    close = np.ones((6, 6))
    close[0, 1] = close[1, 0] = 1 - 2**-53
    assert reasons(over_pairs("pearson", close)) == (None, "all runs are alike")


def test_runs_that_differ_from_the_others_alike_have_no_interval() -> None:
    """Runs on a ring: pairs differ, and leaving out any run leaves the same mean."""
    places = np.arange(7)
    apart = np.abs(places[:, None] - places)
    ring = np.minimum(apart, 7 - apart) / 10
    assert reasons(over_pairs("churn", ring)) == (None, "all runs are alike")


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 1e200])
def test_pairs_that_have_no_number_are_counted_never_left_out(odd: float) -> None:
    one_run, one_pair, all_pairs = random_matrix(6), random_matrix(6), np.full((3, 3), odd)
    one_run[2] = one_run[:, 2] = odd
    one_pair[2, 4] = one_pair[4, 2] = odd
    for matrix, reason in (
        (one_run, "no finite value with 1 run of 6"),
        (one_pair, "no finite value for 1 of 15 pairs"),
        (all_pairs, "no finite value for 3 of 3 pairs"),
    ):
        assert reasons(over_pairs("pearson", matrix)) == (reason, reason)
        assert reasons(difference_over_pairs("pearson", random_matrix(5), matrix)) == (f"candidate: {reason}",) * 2
        assert reasons(difference_over_pairs("pearson", matrix, random_matrix(5))) == (f"baseline: {reason}",) * 2


@few
@given(matrices(), matrices())
def test_a_difference_combines_both_errors_as_welch_does(before: Matrix, after: Matrix) -> None:
    found = difference_over_pairs("cross-entropy-sd", before, after)
    assert value(found) == pytest.approx(mean_over_pairs(after) - mean_over_pairs(before), abs=1e-15)
    variances = plain_error(before) ** 2, plain_error(after) ** 2
    if isinstance(found.interval, Interval) and min(variances) > 0:
        df = sum(variances) ** 2 / sum(
            it**2 / (len(side) - 1) for it, side in zip(variances, (before, after), strict=True)
        )
        half = scipy_stats.t.ppf(0.975, df) * math.sqrt(sum(variances))
        assert ends(found) == pytest.approx((value(found) - half, value(found) + half), rel=1e-9, abs=1e-12)


@few
@given(matrices(), matrices())
def test_exchanged_sides_negate_a_difference(before: Matrix, after: Matrix) -> None:
    one, other = difference_over_pairs("churn", before, after), difference_over_pairs("churn", after, before)
    assert value(other) == -value(one)
    assert reasons(other) == reasons(one)
    if isinstance(one.interval, Interval):
        assert ends(other) == pytest.approx([-end for end in reversed(ends(one))], rel=1e-12)


def test_a_control_whose_runs_are_identical_leaves_the_spread_of_the_other() -> None:
    control, free = np.zeros((8, 8)), random_matrix(6) / 10
    found, alone = difference_over_pairs("churn", control, free), over_pairs("churn", free)
    assert value(found) == value(alone)
    assert ends(found) == pytest.approx(ends(alone), rel=1e-12)


def test_differences_without_spread_have_no_interval() -> None:
    same, other = np.zeros((5, 5)), np.full((6, 6), 0.25)
    assert reasons(difference_over_pairs("churn", same, same)) == (None, "identical")
    found = difference_over_pairs("churn", same, other)
    assert found.value == 0.25
    assert reasons(found) == (None, "constant difference, no spread observed")


@pytest.mark.parametrize(("n_before", "n_after"), [(4, 9), (9, 4), (2, 2)])
def test_a_difference_takes_five_runs_in_each(n_before: int, n_after: int) -> None:
    found = difference_over_pairs("churn", random_matrix(n_before), random_matrix(n_after, seed=1))
    assert isinstance(found.value, float)
    assert reasons(found) == (None, f"needs 5 runs in each, has {n_before} and {n_after}")


def churn_of(n_runs: int, rng: np.random.Generator) -> Matrix:
    """Runs that err on examples of their own, some runs on more of them: labels of 200 examples."""
    rates = rng.beta(4, 36, n_runs)
    labels = np.where(rng.random((n_runs, 200)) < rates[:, None], rng.integers(1, 4, (n_runs, 200)), 0)
    return np.mean(labels[:, None] != labels, axis=2)


@pytest.mark.parametrize(("n_runs", "at_least"), [(5, 0.90), (12, 0.92)])
def test_intervals_cover_the_mean_over_all_pairs_of_runs(n_runs: int, at_least: float) -> None:
    """Of 400 samples; with pairs for n the interval would hold it in far fewer."""
    rate = 4 / 40
    # One of two errs, or both do, and then two of three times in another way.
    truth = 2 * rate * (1 - rate) + rate * rate * 2 / 3
    rng = np.random.default_rng(1)
    covered, of_pairs = 0, 0
    n_trials = 400
    for _ in range(n_trials):
        matrix = churn_of(n_runs, rng)
        low, high = ends(over_pairs("churn", matrix))
        covered += low <= truth <= high
        pairs = matrix[np.triu_indices(n_runs, 1)]
        low, high = scipy_stats.t.interval(0.95, len(pairs) - 1, loc=pairs.mean(), scale=scipy_stats.sem(pairs))
        of_pairs += low <= truth <= high
    assert at_least <= covered / n_trials <= 0.985
    assert of_pairs / n_trials < 0.85
