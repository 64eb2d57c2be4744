"""Bootstrap intervals: those of scipy on the same resamples, shared draws, and named answers where there is none."""

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from each import check_each
from scipy import stats as scipy_stats

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.estimates import bootstrap
from deviate.stats.estimates.bootstrap import Resamples

ONE = {
    bootstrap.mean_bootstrap: (np.mean, "BCa"),
    bootstrap.mean_percentile: (np.mean, "percentile"),
    bootstrap.sd_bootstrap: (lambda x, axis=-1: np.std(x, axis=axis, ddof=1), "BCa"),
    bootstrap.median_bootstrap: (np.median, "percentile"),
}


def mean_difference(b: np.ndarray, a: np.ndarray, axis: int = -1) -> np.ndarray:
    return a.mean(axis=axis) - b.mean(axis=axis)


def log_sd_ratio(b: np.ndarray, a: np.ndarray, axis: int = -1) -> np.ndarray:
    return np.log(a.std(axis=axis, ddof=1) / b.std(axis=axis, ddof=1))


def glass_delta(b: np.ndarray, a: np.ndarray, axis: int = -1) -> np.ndarray:
    return mean_difference(b, a, axis) / b.std(axis=axis, ddof=1)


TWO = {
    bootstrap.difference_bootstrap: mean_difference,
    bootstrap.sd_ratio_bootstrap: log_sd_ratio,
    bootstrap.glass_delta_bootstrap: glass_delta,
}
EVERY = [*ONE, *TWO]


def scores(n: int, seed: int = 0, mean: float = 90.0, sd: float = 1.0) -> list[float]:
    return np.random.default_rng(seed).normal(mean, sd, n).tolist()


def called(function: Callable[..., Interval | Unavailable], values: Sequence[float]) -> Interval | Unavailable:
    samples = [values] if function in ONE else [values, list(reversed(values))]
    return function(*samples, rng=np.random.default_rng(3))


def drawn(values: Sequence[float], resamples: Resamples, side: int) -> np.ndarray:
    """The resamples themselves, one a row."""
    counts = resamples.draws(len(values), side).counts.astype(int)
    return np.array([np.repeat(np.sort(values), row) for row in counts])


def scipys(samples: Sequence[Sequence[float]], statistic: Callable, method: str, resampled: np.ndarray) -> object:
    """The interval that scipy computes from a bootstrap distribution which it is given."""
    given = SimpleNamespace(bootstrap_distribution=resampled)
    data = tuple(np.sort(sample) for sample in samples)
    return scipy_stats.bootstrap(
        data, statistic, n_resamples=0, bootstrap_result=given, method=method, rng=np.random.default_rng(0)
    ).confidence_interval


@pytest.mark.parametrize("function", ONE)
@pytest.mark.parametrize("n", [10, 11, 40])
def test_intervals_of_one_sample_are_scipys_on_the_same_resamples(function: Callable, n: int) -> None:
    statistic, method = ONE[function]
    values, resamples = np.exp(scores(n, mean=0.0)).tolist(), Resamples(np.random.default_rng(1))
    expected = scipys([values], statistic, method, statistic(drawn(values, resamples, 0), axis=-1))
    ours = function(values, rng=resamples)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), rel=1e-9)


@pytest.mark.parametrize("function", TWO)
@pytest.mark.parametrize(("n_before", "n_after"), [(10, 14), (20, 20)])
def test_intervals_of_two_samples_are_scipys_on_the_same_resamples(
    function: Callable, n_before: int, n_after: int
) -> None:
    before, after = scores(n_before, 1), np.exp(scores(n_after, 2, mean=4.5)).tolist()
    resamples = Resamples(np.random.default_rng(5))
    resampled = TWO[function](drawn(before, resamples, 0), drawn(after, resamples, 1))
    expected = scipys([before, after], TWO[function], "BCa", resampled)
    ends = (expected.low, expected.high)
    ours = function(before, after, rng=resamples)
    if function is bootstrap.sd_ratio_bootstrap:
        ends = (math.exp(expected.low), math.exp(expected.high))
    assert (ours.low, ours.high) == pytest.approx(ends, rel=1e-9)


@pytest.mark.parametrize("function", ONE)
def test_an_interval_agrees_with_one_of_scipys_own_resamples(function: Callable) -> None:
    statistic, method = ONE[function]
    values = scores(30)
    theirs = scipy_stats.bootstrap(
        (np.array(values),), statistic, n_resamples=9999, method=method, rng=np.random.default_rng(8)
    ).confidence_interval
    ours = function(values, rng=np.random.default_rng(9))
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.05 * (theirs.high - theirs.low))


@pytest.mark.parametrize("function", EVERY)
def test_too_few_runs_have_a_named_answer(function: Callable) -> None:
    minimum = 5 if function is bootstrap.median_bootstrap else 10
    for n in (0, 1, 2, minimum - 1):
        found = called(function, scores(n))
        assert isinstance(found, Unavailable)
        assert found.reason.startswith(f"needs {minimum} runs")
    assert isinstance(called(function, scores(minimum)), Interval)


DEGENERATE = (
    [0.5] * 12,
    [0.5] * 11 + [math.nan],
    [0.5] * 11 + [math.inf],
    [1] * 11 + [2],
    [0] * 6 + [1] * 6,
    [1e9 + 1e-6 * k for k in range(12)],
    [k * 1e149 for k in range(12)],
    [k * 1e-149 for k in range(12)],
    [5e-324 * k for k in range(12)],
    [1e12, *(0.01 * k for k in range(11))],
    [0.0] * 10 + [1.0, 2.0],
    list(range(12)),
)


def check_degenerate(function: Callable, values: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = called(function, values)
    if isinstance(found, Interval):
        assert math.isfinite(found.low)
        assert math.isfinite(found.high)
        assert found.low < found.high
    else:
        assert found.reason


@pytest.mark.parametrize("function", EVERY)
def test_degenerate_scores_give_a_finite_interval_or_a_reason(function: Callable) -> None:
    check_each(((str(values), values) for values in DEGENERATE), functools.partial(check_degenerate, function))


def test_all_equal_scores_are_named_as_such() -> None:
    assert called(bootstrap.mean_bootstrap, [0.5] * 12) == Unavailable(Reason.EQUAL(12))
    assert called(bootstrap.difference_bootstrap, [0.5] * 12) == Unavailable(Reason.IDENTICAL)


def test_one_side_without_spread_has_a_difference_but_no_ratio() -> None:
    flat, spread = [0.5] * 10, scores(10)
    rng = np.random.default_rng(0)
    assert isinstance(bootstrap.difference_bootstrap(flat, spread, rng=rng), Interval)
    assert isinstance(bootstrap.difference_bootstrap(spread, flat, rng=rng), Interval)
    assert bootstrap.sd_ratio_bootstrap(flat, spread, rng=rng) == Unavailable(Reason.OF("baseline", Reason.EQUAL(10)))
    assert isinstance(bootstrap.glass_delta_bootstrap(flat, spread, rng=rng), Unavailable)
    assert isinstance(bootstrap.glass_delta_bootstrap(spread, flat, rng=rng), Interval)


def test_a_ratio_whose_resamples_lack_spread_is_refused_not_infinite() -> None:
    tied = [0.0] * 10 + [1.0, 2.0]
    found = bootstrap.sd_ratio_bootstrap(tied, scores(12), rng=np.random.default_rng(0))
    assert found == Unavailable(Reason.NOT_RESAMPLED)


@pytest.mark.parametrize("function", EVERY)
def test_a_huge_offset_changes_no_digit_that_counts(function: Callable) -> None:
    values = [k**2 / 64 for k in range(12)]
    near, far = called(function, values), called(function, [1e9 + value for value in values])
    offset = 1e9 if function in ONE and function is not bootstrap.sd_bootstrap else 0.0
    assert isinstance(near, Interval)
    assert isinstance(far, Interval)
    assert (far.low - offset, far.high - offset) == pytest.approx((near.low, near.high), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("function", EVERY)
def test_order_of_runs_changes_no_bit(function: Callable) -> None:
    values = scores(15)
    shuffled = np.random.default_rng(1).permutation(values).tolist()
    assert called(function, shuffled) == called(function, values)


@pytest.mark.parametrize("function", EVERY)
def test_an_equal_state_of_the_generator_gives_equal_ends(function: Callable) -> None:
    assert called(function, scores(12)) == called(function, scores(12))


def test_an_interval_does_not_depend_on_what_was_asked_before() -> None:
    alone = Resamples(np.random.default_rng(7))
    shared = Resamples(np.random.default_rng(7))
    for n in range(10, 30):
        bootstrap.sd_bootstrap(scores(n), rng=shared)
    assert bootstrap.mean_bootstrap(scores(12), rng=shared) == bootstrap.mean_bootstrap(scores(12), rng=alone)


def test_the_sides_of_a_comparison_are_resampled_independently() -> None:
    resamples = Resamples(np.random.default_rng(0))
    assert not np.array_equal(resamples.draws(10, 0).counts, resamples.draws(10, 1).counts)


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    values = scores(20)
    narrow, wide = (
        bootstrap.mean_bootstrap(values, rng=np.random.default_rng(0), confidence=level) for level in (0.8, 0.99)
    )
    assert wide.low < narrow.low < narrow.high < wide.high


def test_an_interval_covers_its_parameter_about_as_often_as_the_contract_says() -> None:
    """At n = 10 .915 for the percentile interval of the mean, .913 for BCa (statistics contract, 3)."""
    draws = np.random.default_rng(0)
    samples = [draws.normal(size=10).tolist() for _ in range(600)]
    resamples = Resamples(np.random.default_rng(1), 1999)
    for function in (bootstrap.mean_bootstrap, bootstrap.mean_percentile):
        found = [function(values, rng=resamples) for values in samples]
        assert sum(it.low < 0 < it.high for it in found) / len(found) == pytest.approx(0.914, abs=0.035)
