"""Copies: metrics that say the same as another one are judged once, and shown with it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import experiment, metric, run

from deviate.model.plan import PrimaryChoice, SelectedMetric
from deviate.model.records import Experiment, Run, Series
from deviate.series.copies import distinct_metrics, rounding_of
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

ACCURACIES = [[81.2, 83.4, 85.1, 84.9], [80.6, 84.4, 86.0, 86.3], [79.9, 82.8, 85.5, 85.7]]
RELATED = [
    (lambda x: x, ""),
    (lambda x: x / 100, "b = 0.01 × acc"),
    (lambda x: 100 * x, "b = 100 × acc"),
    (lambda x: -x, "b = −acc"),
    (lambda x: 1 - x, "b = 1 − acc"),
    (lambda x: 100 - x, "b = 100 − acc"),
    (lambda x: 1 - x / 100, "b = 1 − 0.01 × acc"),
    (lambda x: 100 - 100 * x, "b = 100 − 100 × acc"),
]
UNRELATED = [
    lambda x: 5 * x,
    lambda x: 2 * x - 1,
    np.exp,
    np.square,
    lambda x: np.where(x == x[3], x + 1, x),
    lambda x: x + 0.2,
]


def recorded(
    name: str, metrics: Sequence[SelectedMetric], curves: Sequence[Mapping[str, Sequence[float]]], *more: Run
) -> Experiment:
    return experiment(name, metrics, {}, runs=[*(run(index, curve) for index, curve in enumerate(curves)), *more])


def curves(**functions) -> list[dict[str, list[float]]]:  # type: ignore[no-untyped-def]
    return [
        {"acc": accuracy} | {name: [function(value) for value in accuracy] for name, function in functions.items()}
        for accuracy in ACCURACIES
    ]


def pair(x: np.ndarray, y: np.ndarray) -> Experiment:
    """An experiment of one run with the metrics acc and b, of which nobody knows which values are better."""
    metrics = [metric(name, direction=None) for name in ("acc", "b")]
    return recorded("a", metrics, [{"acc": x.tolist(), "b": y.tolist()}])


def relation(x: np.ndarray, y: np.ndarray) -> str | None:
    """Text of how b is a copy of acc, empty where they are equal; None where it is none."""
    distinct = distinct_metrics([pair(x, y)])
    if [one.name for one in distinct.experiments[0].metrics] == ["acc", "b"]:
        return None
    ((_, text),) = distinct.functions.get("acc", (("", ""),))
    return text


def names(side: Experiment, **options: Any) -> list[str]:
    (described,) = judge([side], AnalysisOptions(**options)).experiments
    return sorted(one.metric.name for one in described.descriptions)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(RELATED), st.sampled_from("fd"), st.sampled_from([1, 100]))
def test_each_relation_is_found_in_any_precision(seed: int, related, precision: str, top: int) -> None:  # type: ignore[no-untyped-def]
    function, text = related
    x = np.random.default_rng(seed).uniform(0, top, 12).astype(precision)
    assert relation(x.astype(float), function(x).astype(precision).astype(float)) == text


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(RELATED), st.integers(2, 4), st.integers(0, 6))
def test_a_copy_that_is_printed_with_other_decimals_is_one(
    seed: int, related, x_decimals: int, y_decimals: int
) -> None:  # type: ignore[no-untyped-def]
    function, text = related
    x = np.random.default_rng(seed).uniform(0, 100, 12)
    y = function(x).round(y_decimals)
    if len(np.unique(y)) > 2:
        assert relation(x.round(x_decimals), y) == text


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 40), st.integers(2, 5), st.integers(2, 5))
def test_unrelated_values_are_no_copies(seed: int, n: int, x_decimals: int, y_decimals: int) -> None:
    rng = np.random.default_rng(seed)
    assert relation(rng.normal(0, 1, n).round(x_decimals), rng.normal(0, 1, n).round(y_decimals)) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-4, 0.3))
def test_noise_beyond_rounding_is_no_copy(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, 20)
    assert relation(x, 1 - x + size * rng.normal(0, 1, 20)) is None


@pytest.mark.parametrize("function", UNRELATED)
def test_other_functions_are_metrics_of_their_own(function) -> None:  # type: ignore[no-untyped-def]
    x = np.array([81.2, 83.4, 85.1, 84.9, 90.3, 91.7])
    assert relation(x, function(x)) is None


def test_rounding_is_half_a_unit_of_the_last_decimal() -> None:
    assert rounding_of(np.array([0.5, 0.25])) == pytest.approx(0.005)
    assert rounding_of(np.array([3.0, 4.0])) == 0.5
    assert rounding_of(np.array([1 / 3])) == 0
    assert rounding_of(np.array([9.1e-08, -3.3e-08])) == 0


def test_equal_metrics_are_one_with_aliases_and_any_of_them_can_be_asked_for() -> None:
    metrics = [metric("acc"), metric("val/acc", direction=None)]
    side = recorded("a", metrics, curves(**{"val/acc": float}))
    (described,) = judge([side], AnalysisOptions(metric="acc")).experiments[0].descriptions
    assert (described.metric.name, described.aliases) == ("acc", ("val/acc",))
    (described,) = judge([side], AnalysisOptions(metric="val/acc")).experiments[0].descriptions
    assert (described.metric.name, described.aliases, described.metric.direction) == ("val/acc", ("acc",), "max")


def test_of_copies_the_planned_one_leads_then_the_declared_one_then_the_order_of_results() -> None:
    metrics = (metric("acc"), metric("val_acc"), metric("test_acc"))
    side = recorded("a", metrics, curves(val_acc=float, test_acc=float))
    assert names(side) == ["test_acc"]
    assert names(replace(side, primary=PrimaryChoice("val_acc", "reported first"))) == ["val_acc"]
    assert names(replace(side, metrics=(replace(metrics[0], margin=0.1), *metrics[1:]))) == ["acc"]


@pytest.mark.parametrize(
    ("other", "value"),
    [
        (metric("b", aggregate="max"), float),
        (metric("b", direction="min"), float),
        (metric("b", role="other"), float),
        (metric("b"), lambda value: value + (value == 85.7)),
        (metric("b"), lambda value: math.nan if value == 85.5 else value),
        (metric("b"), lambda value: 100 - value),
    ],
)
def test_metrics_that_differ_anywhere_stay(other: SelectedMetric, value) -> None:  # type: ignore[no-untyped-def]
    assert names(recorded("a", [metric("acc"), other], curves(b=value))) == ["acc", "b"]


def test_constants_other_steps_and_runs_that_lack_one_are_not_the_same() -> None:
    metrics = [metric("acc"), metric("b")]
    assert names(recorded("a", metrics, [{"acc": [1.0, 1.0], "b": [1.0, 1.0]}] * 3)) == ["acc", "b"]
    assert names(recorded("a", metrics, [{"acc": [1.0, 2.0], "b": [1.0, 2.0]}] * 3)) == ["acc", "b"]
    assert names(recorded("a", metrics, [{"acc": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}] * 3)) == ["acc"]
    later = replace(run(2, {"acc": ACCURACIES[2]}), status="completed")
    later.series["b"] = Series((1, 2, 3, 4), tuple(ACCURACIES[2]))
    assert names(recorded("a", metrics, curves(b=float)[:2], later)) == ["acc", "b"]


def test_a_copy_that_is_reported_less_often_is_compared_at_the_steps_that_both_report() -> None:
    metrics = [metric("acc"), metric("b")]
    rare = [run(index, {"acc": values}) for index, values in enumerate(ACCURACIES)]
    for one, values in zip(rare, ACCURACIES, strict=True):
        one.series["b"] = Series((1, 3), (values[1], values[3]))
    assert names(recorded("a", metrics, [], *rare)) == ["acc"]
    rare[0].series["b"] = Series((1, 3), (ACCURACIES[0][1], ACCURACIES[0][3] + 0.2))
    assert names(recorded("a", metrics, [], *rare)) == ["acc", "b"]


def test_a_run_that_failed_between_the_two_reports_hides_no_alias() -> None:
    crashed = run(3, {"acc": [1.0, 2.0], "b": [1.0]}, "crashed")
    assert names(recorded("a", [metric("acc"), metric("b")], curves(b=float), crashed)) == ["acc"]


def test_copies_are_shown_with_their_metric_and_not_judged() -> None:
    metrics = [metric("error", direction="min"), metric("acc"), metric("loss", direction="min"), metric("share")]
    functions = {"error": lambda value: 100 - value, "share": lambda value: value / 100, "loss": math.sin}
    sides = [recorded(name, metrics, curves(**functions)) for name in "ab"]
    findings = judge(sides, AnalysisOptions(metric="acc"))
    described = {one.metric.name: one for one in findings.experiments[0].descriptions}
    assert set(described) == {"acc", "loss"}
    assert sorted(described["acc"].functions) == ["error = 100 − acc", "share = 0.01 × acc"]
    assert [comparison.metric.name for comparison in findings.pairs[0].comparisons] == ["acc", "loss"]


def test_in_a_comparison_both_hold_on_both_sides_or_not_at_all() -> None:
    metrics = [metric("acc"), metric("share")]
    share, percent = (
        recorded(name, metrics, curves(share=lambda value, n=n: value / n)) for name, n in (("a", 100), ("b", 1))
    )
    assert [len(item.descriptions) for item in judge([share, percent]).experiments] == [2, 2]
    lacking = replace(
        share, name="c", metrics=(metrics[0],), runs=tuple(run(i, {"acc": a}) for i, a in enumerate(ACCURACIES))
    )
    first, second = judge([lacking, share]).experiments
    assert [item.functions for item in (*first.descriptions, *second.descriptions)] == [(), ("share = 0.01 × acc",)]
