"""Time to a target: counted from the first step, censored where a run ended before."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from samples import experiment, metric, run

from deviate.model.analysis import Direction
from deviate.model.comparisons import Attainment, AttainmentComparison
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Note, Reason
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Run, Series, Status
from deviate.stats.hypothesis.survival import attainment, compare_attainment


def target(value: float | None, direction: Direction | None = "max") -> SelectedMetric:
    return replace(metric("acc", direction=direction), target=value)


def runs(*curves: Sequence[float], statuses: Sequence[Status] = ()) -> Experiment:
    """Runs that report once per step, a quarter of a second apart."""
    made: list[Run] = []
    for index, curve in enumerate(curves):
        times = tuple(0.25 * (step + 1) for step in range(len(curve)))
        series = Series(tuple(range(len(curve))), tuple(curve), times)
        status = statuses[index] if index < len(statuses) else "completed"
        made.append(replace(run(index, {}, status), series={"acc": series}))
    return experiment("e", [metric("acc")], {}, runs=made)


def attained(found: Attainment | Unavailable) -> Attainment:
    assert isinstance(found, Attainment)
    return found


def test_steps_count_from_one_up_to_the_first_value_at_the_target_or_beyond() -> None:
    found = attained(attainment(runs([0.1, 0.5, 0.2, 0.9], [0.7], [0.1, 0.2]), target(0.5)))
    assert found.steps == ((0, 2, True), (1, 1, True), (2, 2, False))
    assert found.seconds == ((0, 0.5, True), (1, 0.25, True), (2, 0.5, False))
    assert (found.n_reached, found.target) == (2, 0.5)


def test_a_metric_to_be_small_reaches_its_target_from_above() -> None:
    found = attained(attainment(runs([3.0, 1.0, 0.4], [3.0, 0.5]), target(0.5, "min")))
    assert found.steps == ((0, 3, True), (1, 2, True))


def test_values_that_are_not_finite_or_outside_the_main_loop_reach_nothing() -> None:
    late = Series((0, 1, None), (0.1, math.inf, 0.9))
    only = experiment("e", [metric("acc")], {}, runs=[replace(run(0, {}), series={"acc": late})])
    assert attained(attainment(only, target(0.5))).steps == ((0, 2, False),)


def test_the_curve_begins_at_one_and_the_median_is_where_half_of_the_runs_are_there() -> None:
    curves = [[0.0] * n + [1.0] for n in (3, 1, 7, 5, 9)]
    found = attained(attainment(runs(*curves), target(1)))
    steps, shares = zip(*found.survival, strict=True)
    assert steps == (0, 2, 4, 6, 8, 10)
    assert shares == pytest.approx((1, 0.8, 0.6, 0.4, 0.2, 0))
    assert (found.median_steps, found.median_seconds) == (6, 1.5)
    assert isinstance(found.median_steps_interval, Interval)
    assert (found.median_steps_interval.low, found.median_seconds_interval.low) == (2, 0.5)


def test_failed_runs_are_censored_where_they_were_last_seen_and_lost_ones_left_out() -> None:
    curves = [[0.0, 1.0], [0.0, 0.0, math.nan], [0.0], [1.0], [1.0, 0.0]]
    statuses: list[Status] = ["completed", "diverged", "crashed", "lost", "crashed"]
    found = attained(attainment(runs(*curves, statuses=statuses), target(1)))
    assert found.steps == ((0, 2, True), (1, 3, False), (2, 1, False), (4, 1, True))
    assert found.note == Note.CENSORED(2, (1, 2))


def test_a_run_that_never_reported_counts_and_is_censored_before_the_first_step() -> None:
    silent = replace(run(1, {}, "silent"))
    whole = runs([0.0, 1.0])
    found = attained(attainment(replace(whole, runs=(*whole.runs, silent)), target(1)))
    assert found.steps == ((0, 2, True), (1, 0, False))


def test_without_times_on_record_there_are_steps_alone() -> None:
    timed = runs([0.0, 1.0], [1.0])
    untimed = replace(timed, runs=(timed.runs[0], run(1, {"acc": [1.0]})))
    found = attained(attainment(untimed, target(1)))
    assert found.seconds == ()
    assert found.median_seconds == Unavailable(Reason.NO_TIMES)
    assert found.median_steps == 1.5


@pytest.mark.parametrize(
    ("whole", "measure", "reason"),
    [
        (runs([1.0]), target(None), "no target was given"),
        (runs([1.0]), target(1.0, None), "the metric has no direction: set direction in deviate.toml"),
        (runs([1.0], statuses=["lost"]), target(1.0), "no run ended"),
        (experiment("e", [], {}, runs=[run(0, {})]), target(1.0), "not reported in the main loop"),
    ],
)
def test_what_cannot_be_timed_says_why(whole: Experiment, measure: SelectedMetric, reason: str) -> None:
    assert attainment(whole, measure) == Unavailable(reason)


def test_sides_are_compared_over_steps_and_seconds() -> None:
    slow = attainment(runs(*[[0.0] * n + [1.0] for n in (5, 6, 7, 8, 9)]), target(1))
    fast = attainment(runs(*[[0.0] * n + [1.0] for n in range(5)], statuses=["completed"] * 4), target(1))
    compared = compare_attainment(slow, fast)
    assert isinstance(compared, AttainmentComparison)
    assert isinstance(compared.log_rank, Test)
    assert isinstance(compared.log_rank_seconds, Test)
    assert compared.log_rank.statistic > 0
    assert compared.log_rank.p_value == compared.log_rank_seconds.p_value == 2 / 252


def test_sides_with_different_targets_or_none_are_not_compared() -> None:
    whole = runs([0.0, 1.0])
    low, high = attainment(whole, target(0.5)), attainment(whole, target(1.0))
    assert compare_attainment(low, high) == Unavailable(Reason.TARGETS_DIFFER(0.5, 1))
    none = attainment(whole, target(None))
    assert compare_attainment(none, high) == compare_attainment(high, none) == none
