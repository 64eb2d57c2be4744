"""Error rates under repetition: what is said to happen in 5 % of cases does."""

import numpy as np
import pytest

from deviate.model.estimates import Interval, Test, Unavailable
from deviate.stats.estimates.effect import superiority_interval
from deviate.stats.estimates.one_sample import mean_interval, sd_interval
from deviate.stats.hypothesis.two_sample import student, welch

REPETITIONS = 1500
FOUR_ERRORS = 4 * (0.05 * 0.95 / REPETITIONS) ** 0.5


def p_values(n_before: int, sd_before: float, n_after: int, sd_after: float, *, pooled: bool) -> np.ndarray:
    draws = np.random.default_rng(7)
    test = student if pooled else welch
    found = []
    for _ in range(REPETITIONS):
        before, after = draws.normal(0, sd_before, n_before).tolist(), draws.normal(0, sd_after, n_after).tolist()
        result = test(before, after)
        assert isinstance(result, Test)
        found.append(result.p_value)
    return np.array(found)


@pytest.mark.parametrize(("n_before", "sd_before", "n_after", "sd_after"), [(8, 1, 8, 1), (5, 3, 15, 1)])
def test_welch_rejects_a_true_null_in_five_percent(
    n_before: int, sd_before: float, n_after: int, sd_after: float
) -> None:
    rate = np.mean(p_values(n_before, sd_before, n_after, sd_after, pooled=False) < 0.05)
    assert rate == pytest.approx(0.05, abs=FOUR_ERRORS)


def test_student_with_unequal_spread_and_numbers_rejects_far_more() -> None:
    assert np.mean(p_values(5, 3, 15, 1, pooled=True) < 0.05) > 0.15


def test_intervals_of_mean_and_spread_cover_ninety_five_percent() -> None:
    draws = np.random.default_rng(3).normal(2, 3, (REPETITIONS, 8)).tolist()
    covered_mean = np.mean([_covers(mean_interval(values), 2) for values in draws])
    covered_sd = np.mean([_covers(sd_interval(values), 3) for values in draws])
    assert covered_mean == pytest.approx(0.95, abs=FOUR_ERRORS)
    assert covered_sd == pytest.approx(0.95, abs=FOUR_ERRORS)


def test_interval_of_superiority_covers_about_ninety_five_percent() -> None:
    draws = np.random.default_rng(5)
    samples = [(draws.normal(0, 1, 10).tolist(), draws.normal(0.5, 2, 10).tolist()) for _ in range(600)]
    truth = 0.5885  # P(N(0.5, 1 + 4) > 0)
    covered = np.mean([_covers(superiority_interval(before, after), truth) for before, after in samples])
    assert covered == pytest.approx(0.95, abs=0.035)


def _covers(interval: Interval | Unavailable, truth: float) -> bool:
    assert isinstance(interval, Interval)
    return interval.low <= truth <= interval.high
