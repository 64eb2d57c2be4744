"""Metrics that restate another one: equal series are aliases, fixed functions are shown with it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import experiment, metric, run

from deviate.model import Experiment, Run, SelectedMetric, Series
from deviate.stats import judge
from deviate.stats.restated import find_function, rounding_of

ACCURACIES = [[81.2, 83.4, 85.1, 84.9], [80.6, 84.4, 86.0, 86.3], [79.9, 82.8, 85.5, 85.7]]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(-50, 50).filter(lambda a: abs(a) > 1e-3),
    st.floats(-100, 100),
    st.sampled_from("fd"),
)
def test_a_line_is_found_with_its_numbers_in_any_precision(seed: int, a: float, b: float, precision: str) -> None:
    x = np.random.default_rng(seed).uniform(0, 1, 12)
    x, y = (values.astype(precision).astype(float) for values in (x, a * x + b))
    function = find_function(x, y)
    if np.ptp(y) > 1e-3 * abs(b):
        assert function is not None
        assert function.holds(x, y)
        assert function.a == pytest.approx(a, rel=1e-2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 40), st.integers(0, 5), st.integers(0, 5))
def test_unrelated_values_follow_no_function(seed: int, n: int, x_decimals: int, y_decimals: int) -> None:
    rng = np.random.default_rng(seed)
    assert find_function(rng.normal(0, 1, n).round(x_decimals), rng.normal(0, 1, n).round(y_decimals)) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-4, 0.3))
def test_noise_beyond_rounding_is_no_function(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, 20)
    assert find_function(x, 3 * x + 1 + size * rng.normal(0, 1, 20)) is None


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: 5 * x, "5 × acc"),
        (lambda x: 100 - x, "100 − acc"),
        (lambda x: x / 100, "0.01 × acc"),
        (lambda x: 1 - x / 100, "1 − 0.01 × acc"),
        (lambda x: -x, "−acc"),
        (lambda x: 1.8 * x + 32, "1.8 × acc + 32"),
        (lambda x: 2 * x - 1, "2 × acc − 1"),
        (lambda x: x.round(), None),
        (lambda x: x**2, None),
        (lambda x: np.where(x == x[3], x + 1, x), None),
    ],
)
def test_lines_have_a_text(function, text: str | None) -> None:  # type: ignore[no-untyped-def]
    x = np.array([81.2, 83.4, 85.1, 84.9, 90.3, 91.7])
    found = find_function(x, function(x))
    assert (found and found.text("acc")) == text


def test_exponentials_are_found_rounded_or_not_and_infinite_values_must_agree() -> None:
    loss = np.random.default_rng(0).uniform(0.5, 4, 10)
    for x, y in ((loss, np.exp(loss)), (loss.round(4), np.exp(loss).round(4))):
        exponential, logarithm = find_function(x, y), find_function(y, x)
        assert exponential is not None
        assert logarithm is not None
        assert (exponential.text("loss"), logarithm.text("ppl")) == ("exp(loss)", "log(ppl)")
        assert exponential.holds(np.append(x, np.nan), np.append(y, np.inf))
        assert not exponential.holds(np.append(x, 1.0), np.append(y, np.inf))


def test_rounding_is_half_a_unit_of_the_last_decimal() -> None:
    assert rounding_of(np.array([0.5, 0.25])) == pytest.approx(0.005)
    assert rounding_of(np.array([3.0, 4.0])) == 0.5
    assert rounding_of(np.array([1 / 3])) == 0


def recorded(
    name: str, metrics: Sequence[SelectedMetric], curves: Sequence[Mapping[str, Sequence[float]]], *more: Run
) -> Experiment:
    return experiment(name, metrics, {}, runs=[*(run(index, curve) for index, curve in enumerate(curves)), *more])


def curves(**functions) -> list[dict[str, list[float]]]:  # type: ignore[no-untyped-def]
    return [
        {"acc": accuracy} | {name: [function(value) for value in accuracy] for name, function in functions.items()}
        for accuracy in ACCURACIES
    ]


def names(side: Experiment, **options: str) -> list[str]:
    return sorted(one.metric.name for one in judge([side], **options).experiments[0].descriptions)  # type: ignore[arg-type]


def test_equal_metrics_are_one_with_aliases_and_any_of_them_can_be_asked_for() -> None:
    metrics = [metric("acc"), metric("val/acc", direction=None)]
    side = recorded("a", metrics, curves(**{"val/acc": float}))
    (described,) = judge([side]).experiments[0].descriptions
    assert (described.metric.name, described.aliases) == ("acc", ("val/acc",))
    (described,) = judge([side], primary="val/acc").experiments[0].descriptions
    assert (described.metric.name, described.aliases, described.metric.direction) == ("val/acc", ("acc",), "max")


def test_the_tag_of_a_tracker_and_what_analysis_found_stand_for_others() -> None:
    printed = metric("acc")
    printed = replace(printed, metric=replace(printed.metric, sink="print"))
    tag = replace(printed, name="val/acc", metric=replace(printed.metric, name="val/acc", sink="tensorboard"))
    side = recorded("a", [printed, tag], curves(**{"val/acc": float}))
    assert names(side) == ["val/acc"]
    assert names(replace(side, metrics=(printed, replace(tag, is_found_by_running=True)))) == ["acc"]
    assert names(replace(side, metrics=(replace(printed, margin=0.1), tag))) == ["acc"]


@pytest.mark.parametrize(
    ("other", "value"),
    [
        (metric("b", aggregate="max"), float),
        (metric("b", direction="min"), float),
        (metric("b", role="other"), float),
        (metric("b"), lambda value: value + (value == 85.7)),
        (metric("b"), lambda value: math.nan if value == 85.5 else value),
    ],
)
def test_metrics_that_differ_anywhere_stay(other: SelectedMetric, value) -> None:  # type: ignore[no-untyped-def]
    assert names(recorded("a", [metric("acc"), other], curves(b=value))) == ["acc", "b"]


def test_constants_other_steps_and_runs_that_lack_one_are_not_the_same() -> None:
    metrics = [metric("acc"), metric("b")]
    assert names(recorded("a", metrics, [{"acc": [1.0, 1.0], "b": [1.0, 1.0]}] * 3)) == ["acc", "b"]
    assert names(recorded("a", metrics, [*curves(b=float)[:2], {"acc": ACCURACIES[2]}])) == ["acc", "b"]
    later = replace(run(2, {"acc": ACCURACIES[2]}), status="completed")
    later.series["b"] = Series((1, 2, 3, 4), tuple(ACCURACIES[2]))
    assert names(recorded("a", metrics, curves(b=float)[:2], later)) == ["acc", "b"]


def test_a_run_that_failed_between_the_two_reports_hides_no_alias() -> None:
    crashed = run(3, {"acc": [1.0, 2.0], "b": [1.0]}, "crashed")
    assert names(recorded("a", [metric("acc"), metric("b")], curves(b=float), crashed)) == ["acc"]


def test_fixed_functions_are_shown_with_their_metric_and_not_judged() -> None:
    metrics = [metric("error", direction="min"), metric("acc"), metric("loss", direction="min"), metric("correct")]
    functions = {"error": lambda value: 100 - value, "correct": lambda value: 5 * value, "loss": math.sin}
    sides = [recorded(name, metrics, curves(**functions)) for name in "ab"]
    findings = judge(sides)
    described = {one.metric.name: one for one in findings.experiments[0].descriptions}
    assert set(described) == {"acc", "loss"}
    assert described["acc"].functions == ("correct = 5 × acc", "error = 100 − acc")
    assert [comparison.metric.name for comparison in findings.pairs[0].comparisons] == ["acc", "loss"]


def test_in_a_comparison_both_hold_on_both_sides_or_not_at_all() -> None:
    metrics = [metric("acc"), metric("correct")]
    five, ten = (
        recorded(name, metrics, curves(correct=lambda value, n=n: n * value)) for name, n in (("a", 5), ("b", 10))
    )
    assert [len(item.descriptions) for item in judge([five, ten]).experiments] == [2, 2]
    equal = recorded("b", metrics, curves(correct=float))
    assert [len(item.descriptions) for item in judge([five, equal]).experiments] == [2, 2]
    lacking = replace(
        five, name="c", metrics=(metrics[0],), runs=tuple(run(i, {"acc": a}) for i, a in enumerate(ACCURACIES))
    )
    first, second = judge([lacking, five]).experiments
    assert [item.functions for item in (*first.descriptions, *second.descriptions)] == [(), ("correct = 5 × acc",)]


def test_a_function_that_scores_do_not_follow_or_that_turns_better_into_worse_is_judged() -> None:
    metrics = [metric("loss", direction="min"), metric("ppl", direction="min")]
    losses = [{"loss": [2.01, 1.37, 0.98], "ppl": [math.exp(value) for value in (2.01, 1.37, 0.98)]}]
    for aggregate, judged in (("mean", 2), ("mean-last:2", 2), ("last", 1), ("at-best:loss", 1)):
        chosen = [replace(one, aggregate=aggregate) for one in metrics]
        assert names(recorded("a", chosen, losses)) == ["loss", "ppl"][:judged]
    assert names(recorded("a", [metric("acc"), metric("error")], curves(error=lambda value: 100 - value))) == [
        "acc",
        "error",
    ]
