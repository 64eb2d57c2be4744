"""Spread relative to a level: only where the level is one to measure by."""

import pytest
from samples import metric, sample

from deviate.model.estimates import NOT_APPLICABLE, Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.estimates.one_sample import (
    coefficient_of_variation,
    error_variation,
    sd_interval,
    variation_interval,
)


def test_the_interval_of_the_variation_is_that_of_the_sd_over_the_mean() -> None:
    values = sample(20.0, 0.5, 8)
    spread, found = sd_interval(values), variation_interval(values)
    assert isinstance(spread, Interval)
    assert isinstance(found, Interval)
    assert (found.low, found.high) == pytest.approx((spread.low / 20, spread.high / 20))
    assert found.low < coefficient_of_variation(values) < found.high


def test_a_mean_within_ten_standard_errors_of_zero_has_a_variation_without_interval() -> None:
    values = sample(1.0, 0.4, 8)
    assert coefficient_of_variation(values) == pytest.approx(0.4)
    assert variation_interval(values) == Unavailable(Reason.NEAR_ZERO)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.6]])
def test_two_runs_are_too_few(values: list[float]) -> None:
    expected = Unavailable(Reason.TOO_FEW(3, "run", len(values)))
    assert coefficient_of_variation(values) == variation_interval(values) == expected


def test_scores_that_are_all_negative_have_no_variation() -> None:
    """A log-likelihood has no zero to measure from."""
    expected = Unavailable(Reason.NOT_POSITIVE)
    assert coefficient_of_variation(sample(-20.0, 0.5, 8)) == variation_interval(sample(-20.0, 0.5, 8)) == expected


def test_equal_scores_have_no_interval_of_the_variation() -> None:
    assert variation_interval([0.5] * 5) == Unavailable(Reason.EQUAL(5))


def test_an_accuracy_near_one_is_measured_by_what_is_wrong() -> None:
    values = sample(0.99, 0.001, 6)
    assert coefficient_of_variation(values) == pytest.approx(0.001 / 0.99)
    assert error_variation(values, metric("test_acc")) == pytest.approx(0.1)
    assert error_variation([100 * value for value in values], metric("test_acc")) == pytest.approx(0.1)


def test_what_is_no_accuracy_above_one_half_has_no_error_rate() -> None:
    assert error_variation(sample(0.4, 0.01, 6), metric("test_acc")) == NOT_APPLICABLE
    assert error_variation(sample(0.9, 0.01, 6), metric("test_loss", direction="min")) == NOT_APPLICABLE
    assert error_variation(sample(250.0, 1.0, 6), metric("test_acc")) == NOT_APPLICABLE
    assert error_variation([], metric("test_acc")) == NOT_APPLICABLE
