"""Growth of a difference: the values of both runs side by side, few enough of them for a plot."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import pytest
from experiments import experiment, selected
from hypothesis import given
from hypothesis import strategies as st
from traced import a_record, a_trace

from deviate.diverge.findings import Difference
from deviate.diverge.levels import Window
from deviate.diverge.outcomes import (
    MOST_POINTS,
    Quantities,
    compare_ends,
    growth_of_losses,
    growth_of_metrics,
    thin_indices,
    window_beyond,
)
from deviate.diverge.requests import Pair
from deviate.diverge.traces import Trace
from deviate.model.records import Run, Series


def losses(*values: float, name: str = "loss") -> Trace:
    return a_trace([a_record(step, "loss", name, value=value) for step, value in enumerate(values)])


def reported(**series: list[float]) -> Run:
    columns = {name: Series([*range(len(its) - 1), None], its) for name, its in series.items()}
    return Run("r", 0, "control", "completed", 0, 0.0, 1.0, Path(), columns)


def test_losses_of_both_runs_stand_side_by_side_by_update() -> None:
    later = 0.5 + 2**-24
    (found,) = growth_of_losses(losses(1.0, 0.5, 0.25), losses(1.0, later, 0.5, 7.0))
    assert (found.name, found.unit, found.steps) == ("loss", "update", (0, 1, 2))
    assert (found.first, found.second) == ((1.0, 0.5, 0.25), (1.0, later, 0.5))
    assert found.differences == (0.0, 2**-24, 0.25)


def test_of_several_losses_of_one_name_in_a_step_the_last_one_stands() -> None:
    one = a_trace([a_record(0, "loss", "loss", value=3.0), a_record(0, "loss", "loss", value=1.0)])
    (found,) = growth_of_losses(one, one)
    assert (found.steps, found.first) == ((0,), (1.0,))


def test_what_no_run_or_one_alone_tells_has_no_growth() -> None:
    assert growth_of_losses(losses(1.0), losses(1.0, name="other")) == ()
    assert growth_of_losses(a_trace([a_record()]), a_trace([a_record()])) == ()


def test_losses_that_are_no_numbers_any_more_are_kept() -> None:
    (found,) = growth_of_losses(losses(1.0, math.nan, math.inf, 1.0), losses(1.0, math.nan, math.inf, math.nan))
    assert found.differences == (0.0, 0.0, 0.0, math.inf)


def test_metrics_stand_side_by_side_by_step_of_the_main_loop_without_what_is_outside_of_it() -> None:
    found = growth_of_metrics(reported(a=[1, 2, 3], b=[1, 2]), reported(a=[1, 4, 3, 5], c=[1, 2]), ["b", "a"])
    assert [it.name for it in found] == ["a"]
    assert (found[0].unit, found[0].steps, found[0].differences) == ("main-loop step", (0, 1), (0.0, 2.0))


@given(st.integers(0, 5000), st.integers(5, MOST_POINTS), st.data())
def test_thinned_points_are_few_and_hold_the_ends_and_the_first_difference(
    n: int, most: int, data: st.DataObject
) -> None:
    begin = data.draw(st.none() | st.integers(0, n - 1)) if n else None
    found = thin_indices(n, begin, most)
    assert found == sorted(set(found))
    assert len(found) <= max(most, min(n, most))
    assert set(found) <= set(range(n))
    if n:
        assert {0, n - 1} <= set(found)
    if begin is not None:
        assert {begin, max(0, begin - 1)} <= set(found)


@pytest.mark.parametrize("begin", [0, 100, 49_000])
def test_gaps_between_thinned_points_never_shrink_from_the_first_difference_on(begin: int) -> None:
    found = [it for it in thin_indices(50_000, begin) if it >= begin]
    gaps = [two - one for one, two in itertools.pairwise(found)]
    assert found[1] == begin + 1
    assert all(two >= one - 1 for one, two in itertools.pairwise(gaps))


def test_a_long_run_is_thinned_around_its_first_difference() -> None:
    (found,) = growth_of_losses(losses(*[1.0] * 5000), losses(*[1.0] * 1234, *[2.0] * 3766))
    assert len(found.steps) <= MOST_POINTS
    assert {0, 1233, 1234, 1235, 4999} <= set(found.steps)


@pytest.mark.parametrize(
    ("kind", "step", "until"),
    [("loss", 3, 6), ("metric", 5, 8), ("metric", 9, None), ("metric", None, None)],
)
def test_a_test_ends_shortly_after_the_difference(kind: str, step: int | None, until: int | None) -> None:
    trace = a_trace([replace(a_record(number, "loss", "loss"), main_step=number // 2) for number in range(12)])
    run = reported(a=[1])
    main_step = None if step is None else step // 2
    difference = Difference("metrics", "metric", step, main_step, kind, "a")
    window = window_beyond(difference, Pair((), (run, run), ((trace,), (trace,))), 2 if kind == "loss" else 1)
    assert window == Window(0, until)


@pytest.mark.parametrize(
    ("mine", "theirs", "is_equal"),
    [
        ({"mse": [0.51234, 0.41234], "wait": [1.0, 2.0]}, {"mse": [0.51234, 0.41234], "wait": [3.0, 2.0]}, True),
        ({"mse": [0.51234, 0.41234], "loss": [1.5, 1.25]}, {"mse": [0.51234, 0.41234], "loss": [1.5, 1.125]}, False),
        ({"mse": [0.5, 0.4], "wait": [1.0, 2.0]}, {"mse": [0.5, 0.4], "wait": [3.0, 2.0]}, False),  # 0.5 tells little
        ({"mse": [0.51234, 0.41234], "loss": [1.5, 1.25]}, {"mse": [0.51234, 0.41234], "loss": [1.75]}, True),
        ({"mse": [0.51234, 0.41234]}, {"mse": [0.41234, 0.51234]}, True),
        ({"mse": [0.51234], "red_fox_acc": [0.75]}, {"mse": [0.51234], "old_owl_acc": [0.75]}, True),
        ({"mse": [0.51234], "red_fox_acc": [0.75]}, {"mse": [0.51234], "old_owl_acc": [0.5]}, False),
    ],
    ids=[
        "no measure",
        "a measure",
        "no telling result",
        "by the clock",
        "another order",
        "another name",
        "other values",
    ],
)
def test_numbers_that_are_no_results_decide_only_where_no_result_tells(
    mine: dict[str, list[float]], theirs: dict[str, list[float]], tmp_path: Path, *, is_equal: bool
) -> None:
    metrics = tuple(selected(name) for name in {**mine, **theirs})
    runs = [
        replace(reported(**series), folder=tmp_path / str(number), started=1.7e9)
        for number, series in enumerate((mine, theirs))
    ]
    pair = Pair(("it",), (runs[0], runs[1]), ((), ()))
    ends = compare_ends(pair, Quantities.of(experiment("it", runs, metrics)), tolerance=0)
    assert ends.is_equal is is_equal
