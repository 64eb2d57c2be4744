"""Robust companions and the shape of scores: scipy's numbers, few false alarms, named answers."""

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats as scipy_stats

from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.stats.estimates.one_sample import (
    excess_kurtosis,
    heavy_tails,
    interquartile_range,
    median_deviation,
    outliers,
    quartiles,
    skewness,
    tails_text,
)

ESTIMATES = (interquartile_range, median_deviation, skewness, excess_kurtosis)
DEGENERATE = {
    "two levels": [0, 0, 0, 1, 1, 1],
    "most equal": [0.5] * 9 + [0.75],
    "far away": [1e9 + 1e-6 * k for k in range(12)],
    "huge": [k * 1e149 for k in range(10)],
    "tiny": [k * 1e-149 for k in range(10)],
    "subnormal": [5e-324 * k for k in range(6)],
    "integers": [3, 1, 4, 1, 5, 9, 2, 6],
}


@pytest.mark.parametrize("n", [5, 6, 7, 30])
@pytest.mark.parametrize("seed", range(3))
def test_estimates_equal_those_of_scipy_and_numpy(n: int, seed: int) -> None:
    values = np.exp(np.random.default_rng(seed).normal(size=n))
    ours = values.tolist()
    assert quartiles(ours) == pytest.approx(tuple(np.percentile(values, [25, 75])), rel=1e-12)
    assert interquartile_range(ours) == pytest.approx(scipy_stats.iqr(values), rel=1e-12)
    expected = scipy_stats.median_abs_deviation(values, scale="normal")
    assert median_deviation(ours) == pytest.approx(expected, rel=1e-9)
    assert skewness(ours) == pytest.approx(scipy_stats.skew(values, bias=False), rel=1e-9)
    assert excess_kurtosis(ours) == pytest.approx(scipy_stats.kurtosis(values, bias=False), rel=1e-9)


@pytest.mark.parametrize("function", ESTIMATES)
@pytest.mark.parametrize("n", range(5))
def test_below_five_runs_there_is_no_shape(function: Callable, n: int) -> None:
    assert function([0.5, 0.75, 0.625, 1.0][:n]) == Unavailable(Reason.TOO_FEW(5, "run", n))


@pytest.mark.parametrize("function", ESTIMATES)
def test_equal_scores_and_scores_that_are_no_numbers_are_named(function: Callable) -> None:
    assert function([0.5] * 6) == Unavailable(Reason.EQUAL(6))
    for wrong in (math.nan, math.inf, 1e200):
        assert function([0.5, 0.6, 0.7, 0.8, wrong]) == Unavailable(Reason.NO_NUMBER)


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_scores_give_numbers_or_reasons_and_no_warning(name: str) -> None:
    values = DEGENERATE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [function(values) for function in ESTIMATES]
        outliers(values)
        tails_text(values)
    assert all(it.reason if isinstance(it, Unavailable) else math.isfinite(it) for it in found)


def test_a_huge_offset_leaves_the_shape_as_it_is() -> None:
    values = [k**2 / 64 for k in range(12)]
    for function in ESTIMATES:
        assert function([1e9 + value for value in values]) == pytest.approx(function(values), rel=1e-6)


def test_a_run_far_from_the_others_is_an_outlier_by_its_place() -> None:
    values = [93.1, 93.2, 93.3, 88.0, 93.4, 93.25]
    assert outliers(values) == (3,)
    assert outliers(values[:4]) == ()
    assert outliers([1.0, *(value / 100 for value in values)]) == (0, 4)


def test_where_most_scores_are_equal_no_run_is_called_an_outlier() -> None:
    assert outliers([0.5] * 9 + [0.75]) == ()
    assert outliers([0.5] * 6) == ()


@pytest.mark.parametrize("n", [8, 9, 10, 11, 12, 13, 14, 17, 23, 30])
def test_normal_scores_have_heavy_tails_in_at_most_five_percent_of_samples(n: int) -> None:
    """With 1200 samples three standard errors are 1.9 points."""
    samples = np.random.default_rng(n).normal(90, 0.3, size=(1200, n)).tolist()
    assert sum(heavy_tails(values) is not None for values in samples) / len(samples) <= 0.069


def test_heavy_tails_are_mostly_seen_with_thirty_runs() -> None:
    samples = np.random.default_rng(0).standard_t(2, size=(300, 30)).tolist()
    assert sum(heavy_tails(values) is not None for values in samples) / len(samples) > 0.7


def test_the_warning_tells_by_what_the_tails_look_heavy() -> None:
    values = [93.1, 93.2, 93.3, 88.0, 93.4, 93.25, 93.15, 93.35]
    text = tails_text(values)
    assert text.startswith("heavy tails (excess kurtosis 7.9, SD 12.5")
    assert "times the MAD" in text
    assert text.endswith("the interval of the SD is not reliable")
    assert tails_text(values[:3] + values[4:]) == ""


def test_of_few_runs_no_tails_are_judged() -> None:
    assert heavy_tails([93.1, 93.2, 93.3, 93.2, 93.15, 80.0, 93.25]) is None
