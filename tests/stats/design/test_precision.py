import itertools
import math

import numpy as np
import pytest
from samples import sample
from scipy import stats as scipy_stats

from deviate.errors import InputError
from deviate.model.design import PrecisionTarget
from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.stats.design.precision import (
    MIN_RUNS,
    forecast,
    half_width,
    is_precise_enough,
    parse_target,
    precision_note,
)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("test_acc ±0.5", PrecisionTarget("test_acc", 0.5)),
        ("test_acc +-0.5", PrecisionTarget("test_acc", 0.5)),
        ("test_acc +/- 0.5", PrecisionTarget("test_acc", 0.5)),
        ("test_acc±.5", PrecisionTarget("test_acc", 0.5)),
        ("  val/loss ± 1e-3 ", PrecisionTarget("val/loss", 0.001)),
        ("test_acc ±1%", PrecisionTarget("test_acc", 1.0, is_percent=True)),
        ("Top-1 accuracy +/-2 %", PrecisionTarget("Top-1 accuracy", 2.0, is_percent=True)),
    ],
)
def test_a_target_is_a_metric_and_a_half_width(text: str, target: PrecisionTarget) -> None:
    assert parse_target(text) == target
    assert parse_target(target.text) == target


@pytest.mark.parametrize(
    "text", ["", "test_acc", "±0.5", "test_acc 0.5", "test_acc ±0", "test_acc ±-1", "test_acc ±1.2.3", "acc ±inf"]
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_target(text)
    assert '--until "test_acc ±0.5"' in caught.value.hint


def test_the_half_width_is_that_of_students_interval() -> None:
    scores = [93.1, 93.5, 93.2, 93.9, 93.4, 93.6]
    low, high = scipy_stats.t.interval(0.95, 5, np.mean(scores), scipy_stats.sem(scores))
    assert half_width(scores) == pytest.approx((high - low) / 2)
    assert half_width([1.0]) == Unavailable(Reason.TOO_FEW(2, "run", 1))
    assert half_width([1.0, 1.0]) == Unavailable(Reason.EQUAL(2))


def test_a_target_is_reached_where_the_interval_is_as_narrow() -> None:
    scores = sample(90.0, 1.0, 10)
    width = half_width(scores)
    assert isinstance(width, float)
    assert is_precise_enough(scores, PrecisionTarget("acc", width))
    assert not is_precise_enough(scores, PrecisionTarget("acc", width * 0.999))
    assert is_precise_enough(scores, PrecisionTarget("acc", 100 * width / 90 * 1.001, is_percent=True))
    assert not is_precise_enough(scores, PrecisionTarget("acc", 100 * width / 90 * 0.999, is_percent=True))


def test_few_runs_never_reach_a_target_however_narrow_their_interval() -> None:
    wide = PrecisionTarget("acc", 1e9)
    assert [is_precise_enough([1.0, 2.0, 3.0][:n], wide, min_runs=1) for n in (1, 2, 3)] == [False, False, True]
    assert not is_precise_enough(sample(0.0, 1.0, MIN_RUNS - 1), wide)
    assert not is_precise_enough(sample(0.0, 1.0, 9), wide, min_runs=10)
    assert not is_precise_enough([1.0, 2.0, math.nan, 3.0, 4.0], wide)


def test_equal_scores_reach_a_target_from_the_fewest_runs_on_and_the_note_says_so() -> None:
    target = PrecisionTarget("acc", 0.1)
    assert [is_precise_enough([0.5] * n, target, min_runs=5) for n in (4, 5)] == [False, True]
    assert forecast([0.5] * 2, target, min_runs=5) == 5
    assert "no interval: all 5 values equal" in precision_note([0.5] * 5, target, 0.95)


def test_a_relative_target_of_a_mean_of_zero_is_out_of_reach() -> None:
    scores = [-2.0, -1.0, 0.0, 1.0, 2.0]
    assert not is_precise_enough(scores, PrecisionTarget("x", 50, is_percent=True))
    assert forecast(scores, PrecisionTarget("x", 50, is_percent=True)) == Unavailable(Reason.A_MILLION)


def test_the_forecast_is_the_fewest_runs_whose_interval_is_as_narrow_at_this_spread() -> None:
    scores = sample(90.0, 1.0, 6)
    found = forecast(scores, PrecisionTarget("acc", 0.3))
    assert isinstance(found, int)
    widths = [float(scipy_stats.t.ppf(0.975, n - 1)) / math.sqrt(n) for n in (found - 1, found)]
    assert widths[1] <= 0.3 < widths[0]
    assert forecast(scores, PrecisionTarget("acc", 5.0)) == 6
    assert forecast(scores[:2], PrecisionTarget("acc", 50.0)) == MIN_RUNS
    assert forecast([1.0], PrecisionTarget("acc", 5.0)) == Unavailable(Reason.TOO_FEW(2, "run", 1))


def test_stopping_on_precision_covers_a_little_less_than_it_says() -> None:
    needed, n_experiments, target = (
        15,
        1500,
        PrecisionTarget("acc", float(scipy_stats.t.ppf(0.975, 14)) / math.sqrt(15)),
    )
    rng = np.random.default_rng(4)
    covered = dict.fromkeys((3, 5, 10), 0)
    for _ in range(n_experiments):
        scores = rng.normal(0, 1, 6 * needed).tolist()
        for min_runs in covered:
            n = next(n for n in itertools.count(min_runs) if is_precise_enough(scores[:n], target, min_runs=min_runs))
            width = half_width(scores[:n])
            assert isinstance(width, float)
            covered[min_runs] += abs(float(np.mean(scores[:n]))) <= width
    rates = {min_runs: hits / n_experiments for min_runs, hits in covered.items()}
    error = 4 * math.sqrt(0.08 * 0.92 / n_experiments)
    assert rates[3] == pytest.approx(0.9015, abs=error)
    assert rates[5] == pytest.approx(0.923, abs=error)
    assert rates[10] == pytest.approx(0.939, abs=error)
    assert rates[3] < rates[5] < rates[10]
