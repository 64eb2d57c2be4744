import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import metric

from deviate.errors import InputError
from deviate.model.analysis import Direction
from deviate.model.estimates import Unavailable
from deviate.model.records import Series
from deviate.series.score import aggregate_series, score_of

CURVE = Series((0, 1, 2, 3), (0.5, 0.9, 0.7, 0.8))
WITH_RESULT = Series((0, 1, None), (1.0, 3.0, 11.0))
SEVERAL = Series((None, None, 0, 0, 0, 1, None, None), (99.0, 50.0, 1.0, 5.0, 3.0, 7.0, 8.0, 9.0))


@pytest.mark.parametrize(
    ("aggregate", "direction", "score"),
    [
        ("last", None, 0.8),
        ("best", "max", 0.9),
        ("best", "min", 0.5),
        ("mean", None, 0.725),
        ("median", None, 0.75),
        ("min", "max", 0.5),
        ("max", "min", 0.9),
        ("at:0", None, 0.5),
        ("at:2", None, 0.7),
        ("mean-last:1", None, 0.8),
        ("mean-last:3", None, 0.8),
    ],
)
def test_each_aggregate_gives_its_score(aggregate: str, direction: Direction | None, score: float) -> None:
    assert aggregate_series(CURVE, aggregate, direction) == pytest.approx(score)


@pytest.mark.parametrize(
    ("aggregate", "score"),
    [
        ("last", 9),
        ("mean", 4),
        ("median", 4),
        ("min", 1),
        ("max", 99),
        ("best", 99),
        ("at:0", 3),
        ("at:1", 7),
        ("mean-last:2", 5),
    ],
)
def test_of_several_values_within_a_step_each_counts_and_at_a_step_the_last(aggregate: str, score: float) -> None:
    assert aggregate_series(SEVERAL, aggregate, "max") == score


@pytest.mark.parametrize(("aggregate", "score"), [("last", 11), ("max", 11), ("mean", 2), ("median", 2), ("min", 1)])
def test_a_result_after_the_loop_is_last_and_extreme_but_not_averaged(aggregate: str, score: float) -> None:
    assert aggregate_series(WITH_RESULT, aggregate) == score


@pytest.mark.parametrize(("aggregate", "score"), [("mean", 4), ("mean-last:3", 6)])
def test_a_metric_outside_the_main_loop_alone_is_averaged_over_its_values_or_is_its_last_one(
    aggregate: str, score: float
) -> None:
    assert aggregate_series(Series((None, None), (2.0, 6.0)), aggregate) == score


@given(
    st.lists(st.tuples(st.integers(0, 8), st.floats(-1e6, 1e6)), min_size=1),
    st.integers(1, 10),
)
def test_the_mean_of_the_last_steps_is_that_of_numpy(measurements: list[tuple[int, float]], n_steps: int) -> None:
    steps, values = np.array([step for step, _ in measurements]), np.array([value for _, value in measurements])
    order = np.argsort(steps, kind="stable")
    steps, values = steps[order], values[order]
    ends = values[[np.flatnonzero(steps == step)[-1] for step in np.unique(steps)]]
    score = aggregate_series(Series(tuple(steps.tolist()), tuple(values.tolist())), f"mean-last:{n_steps}")
    if len(ends) < n_steps:
        assert isinstance(score, Unavailable)
    else:
        assert score == pytest.approx(np.mean(ends[-n_steps:]), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("series", "aggregate", "reason"),
    [
        (Series((), ()), "last", "never reported"),
        (CURVE, "best", "best needs a direction"),
        (CURVE, "at:9", "no value at step 9 (first 0, last 3)"),
        (Series((None,), (1.0,)), "at:0", "no value at step 0: reported only outside the main loop"),
        (Series((0, 1), (1.0, math.nan)), "last", "NaN at the last step (1)"),
        (Series((0, 1), (math.inf, 1.0)), "min", "infinite value at step 0"),
        (Series((0, 1), (math.nan, 1.0)), "mean", "NaN at step 0"),
        (Series((0, 1), (math.nan, 1.0)), "at:0", "NaN at step 0"),
        (Series((0, 1, 2), (1.0, math.nan, 1.0)), "mean-last:2", "NaN at step 1"),
        (CURVE, "mean-last:5", "reported at 4 steps of the main loop, fewer than 5"),
        (Series((None,), (math.nan,)), "last", "NaN outside the main loop"),
        (Series((0,), (-1e305,)), "last", "-1.0e+305, effectively infinite, at the last step (0)"),
    ],
)
def test_a_run_without_score_has_a_reason(series: Series, aggregate: str, reason: str) -> None:
    assert aggregate_series(series, aggregate) == Unavailable(reason)


def test_nan_before_the_end_does_not_touch_the_last_value() -> None:
    assert aggregate_series(Series((0, 1), (math.nan, 0.5)), "last") == 0.5


@pytest.mark.parametrize(
    "aggregate", ["", "final", "at:", "at:-1", "at:1.5", "at:K", "at:1\n", "mean-last:0", "mean-last:", "at-best:"]
)
def test_an_unknown_aggregate_is_refused_with_the_known_ones(aggregate: str) -> None:
    with pytest.raises(InputError) as caught:
        aggregate_series(CURVE, aggregate)
    assert "at:K" in caught.value.hint


ON_TEST, ON_VALIDATION = metric("test_acc", aggregate="at-best:val_loss"), metric("val_loss", direction="min")


@pytest.mark.parametrize(
    ("test", "validation", "score"),
    [
        (CURVE, Series((0, 1, 2, 3), (4.0, 2.0, 2.0, 3.0)), 0.9),
        (Series((None,), (0.6,)), Series((0, 1), (4.0, 2.0)), 0.6),
        (CURVE, Series((0, 1), (math.nan, 2.0)), None),
        (Series((0,), (0.5,)), Series((0, 1), (4.0, 2.0)), None),
        (CURVE, None, None),
    ],
)
def test_a_score_at_the_best_of_another_metric_is_that_of_its_first_best_step(
    test: Series, validation: Series | None, score: float | None
) -> None:
    series = {"test_acc": test} | ({} if validation is None else {"val_loss": validation})
    found = score_of(series, ON_TEST, [ON_TEST, ON_VALIDATION])
    assert found == score if score is not None else isinstance(found, Unavailable)
