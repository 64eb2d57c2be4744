"""Sides that cannot be compared in a metric get a sentence in place of a verdict, in both directions."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from experiments import experiment as recorded
from experiments import run, selected
from hypothesis import given
from hypothesis import strategies as st
from samples import experiment, metric, sample

from deviate.model.comparisons import Comparison
from deviate.model.estimates import Unavailable
from deviate.model.records import Experiment, Series
from deviate.report.verdicts import verdict_reason
from deviate.series.sides import READ_OFF, SCALES, SHARED
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions


def headline(*sides: Experiment, **settings: object) -> Comparison:
    comparison = judge(list(sides), AnalysisOptions(**settings)).pairs[0].headline  # type: ignore[arg-type]
    assert comparison is not None
    return comparison


def side(name: str, scores: Sequence[float], metric_name: str, **traits: object) -> Experiment:
    return experiment(name, [metric(metric_name, is_primary=True, **traits)], {metric_name: list(scores)})


def assert_withheld(comparison: Comparison, reason: str) -> None:
    assert comparison.verdict.word == "withheld"
    absent = Unavailable(reason)
    assert {comparison.difference, comparison.difference_interval, comparison.hedges_g} == {absent}
    assert {comparison.welch, comparison.mann_whitney, comparison.permutation, comparison.p_adjusted} == {absent}


@pytest.mark.parametrize("is_swapped", [False, True])
@pytest.mark.parametrize("name", ["test_accuracy", "val_f1", "auc", "wer", "top1"])
def test_a_fraction_and_a_percentage_of_one_measure_are_no_two_results(name: str, *, is_swapped: bool) -> None:
    scores = [np.array(sample(seed, 0.02, 8)) * 0.1 + 0.6 for seed in (1, 2)]
    sides = [side("fraction", scores[0], name), side("percent", 100 * scores[1], name)]
    found = headline(*(sides[::-1] if is_swapped else sides))
    assert_withheld(found, SCALES)
    assert f"{name} looks like a fraction in fraction and like a percentage in percent" in verdict_reason(found)


@pytest.mark.parametrize("scale", ["percent", "fraction"])
@pytest.mark.parametrize("are_percent", [(0, 1), (1, 0), (0, 1, 0), (1, 0, 1), (0, 0, 1)])
def test_sides_are_brought_to_one_scale_where_the_user_says_to_which(scale: str, are_percent: tuple[int, ...]) -> None:
    of_sides = [np.array(sample(seed, 0.02, 8)) * 0.1 + 0.6 for seed in range(len(are_percent))]
    given = [
        side(f"s{at}", 100 * scores if is_percent else scores, "accuracy", margin=1.0 if is_percent else 0.01)
        for at, (scores, is_percent) in enumerate(zip(of_sides, are_percent, strict=True))
    ]
    factor = 100 if scale == "percent" else 1
    alike = [side(f"s{at}", factor * one, "accuracy", margin=0.01 * factor) for at, one in enumerate(of_sides)]
    found = judge(given, AnalysisOptions(scale=scale))  # type: ignore[arg-type]
    for pair, expected in zip(found.pairs, judge(alike).pairs, strict=True):
        assert pair.headline is not None
        assert expected.headline is not None
        assert pair.headline.verdict == expected.headline.verdict
        assert pair.headline.difference == pytest.approx(expected.headline.difference)
        assert pair.headline.metric.margin == pytest.approx(expected.headline.metric.margin)
    assert {pair.headline.metric.unit for pair in found.pairs if pair.headline} == {"%" if scale == "percent" else ""}
    told = [one.experiment.warnings for one in found.experiments]
    changed = [scale != ("percent" if is_percent else "fraction") for is_percent in are_percent]
    assert told == [
        (f"accuracy is multiplied by {100 if factor > 1 else 0.01:g} (--scale {scale})",) * is_one for is_one in changed
    ]


def test_a_scale_changes_no_metric_that_both_sides_give_alike() -> None:
    sides = [side(name, np.array(sample(seed, 0.1, 8)), "accuracy") for seed, name in enumerate("ab")]
    assert judge(sides, AnalysisOptions(scale="percent")) == judge(sides)


@pytest.mark.parametrize("name", ["test_loss", "return", "perplexity", "distance", "m0", "val_mse", "norm"])
def test_what_has_no_scale_of_its_own_may_differ_by_any_factor(name: str) -> None:
    scores = np.array(sample(1, 0.02, 8)) * 0.1 + 0.6
    assert headline(side("a", scores, name), side("b", 100 * scores + 0.5, name)).verdict.word != "withheld"


@given(st.floats(0.05, 1.0), st.floats(0.05, 1.0))
def test_two_sides_of_one_scale_are_compared(level: float, other: float) -> None:
    draws = np.random.default_rng(1).uniform(0, 1, (2, 6))
    scores = [level * draws[0], other * draws[1]]
    for factor in (1, 100):
        sides = [side(name, factor * one, "accuracy") for name, one in zip("ab", scores, strict=True)]
        assert headline(*sides).verdict.word != "withheld"


@pytest.mark.parametrize(
    ("before", "after", "is_apart"),
    [
        (("acc", "last"), ("best_acc", "last"), True),
        (("best_acc", "last"), ("acc", "last"), True),
        (("acc", "mean"), ("acc", "last"), True),
        (("acc", "at-best:loss"), ("acc", "last"), True),
        (("acc", "max"), ("best_acc", "last"), False),
        (("best_acc", "last"), ("best_val_acc", "last"), False),
        (("acc", "last"), ("acc of the best model", "last"), False),
    ],
)
def test_scores_that_are_read_off_differently_are_not_compared(
    before: tuple[str, str], after: tuple[str, str], *, is_apart: bool
) -> None:
    sides = [
        experiment(
            name,
            [metric(of, aggregate=aggregate, is_primary=True, direction="max"), metric("loss", direction="min")],
            {of: sample(seed, 0.1, 8), "loss": sample(seed + 5, 0.1, 8)},
        )
        for seed, (name, (of, aggregate)) in enumerate(zip("ab", (before, after), strict=True))
    ]
    matches = {} if before[0] == after[0] else {before[0]: after[0]}
    found = headline(*sides, matches=matches)
    assert (found.verdict.word == "withheld") is is_apart
    if is_apart:
        assert_withheld(found, READ_OFF)


@pytest.mark.parametrize(
    ("n_same", "is_constant", "n_values", "is_apart"),
    [(3, False, 4, True), (2, False, 4, True), (1, False, 4, False), (5, True, 4, False), (5, False, 1, False)],
)
@pytest.mark.parametrize("is_reversed", [False, True])
def test_sides_that_share_runs_get_no_verdict_whatever_their_numbers(
    *, n_same: int, is_constant: bool, n_values: int, is_apart: bool, is_reversed: bool
) -> None:
    def trained(name: str, offset: float, order: Sequence[int]) -> Experiment:
        runs = []
        for replicate, i in enumerate(order):
            level = 0.51234 if is_constant else 0.51234 + i / 10 + (offset if i >= n_same else 0.0)
            values = [level + step / 100 for step in range(n_values)]
            acc = Series(steps=list(range(n_values)), values=values)
            runs.append(dataclasses.replace(run(replicate, {"acc": acc}), seeds={"init": i}))
        return recorded(name, runs, [selected("acc")])

    order = range(5, -1, -1) if is_reversed else range(6)
    found = headline(trained("base", 0.0, range(6)), trained("new", 0.03, order), metric="acc")
    assert (found.verdict.word == "withheld") is is_apart
    if is_apart:
        assert_withheld(found, SHARED)
        assert verdict_reason(found) == f"{n_same} runs of new are bitwise the same as runs of base"


def test_an_experiment_that_is_apart_stands_in_no_table_of_all() -> None:
    scores = [np.array(sample(seed, 0.02, 8)) * 0.1 + 0.6 for seed in (1, 2, 3)]
    fractions = [side(name, one, "accuracy") for name, one in zip(("a", "b", "c"), scores, strict=True)]
    found = judge([*fractions, side("d", 100 * scores[1], "accuracy")])
    assert found.many[0].names == ("a", "b", "c")
