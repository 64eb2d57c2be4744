"""Spread per class: the published case, sizes, and the largest of many by chance."""

import math

import numpy as np
import pytest
from outputs import drawn, labelled

from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.model.stability import ClassStability
from deviate.stability.measures.classes import class_table, equal_spreads, expected_largest_range, expected_largest_sd
from deviate.stability.measures.classified import classify
from deviate.stats.estimates.largest import mean_largest_range, mean_largest_sd
from deviate.stats.estimates.one_sample import sd_of


def right_of(n_right: list[list[int]], sizes: list[int]) -> list[list[int]]:
    """Predicted classes of runs with so many right of each class; what is wrong is the next class."""
    return [
        [
            label if at < right else (label + 1) % len(sizes)
            for label, right in enumerate(run)
            for at in range(sizes[label])
        ]
        for run in n_right
    ]


def table(labels: list[list[int]], truth: list[int]) -> tuple[ClassStability, ...]:
    found = classify(labelled(labels, truth))
    return class_table(found, sd_of(found.accuracies), 0.95)


def test_ranges_and_spreads_per_class_of_the_exact_case() -> None:
    sizes = [10, 20]
    truth = [label for label, size in enumerate(sizes) for _ in range(size)]
    labels = right_of([[9, 15], [7, 16], [10, 15]], sizes)
    rows = table(labels, truth)
    assert [(row.label, row.n_examples) for row in rows] == [(0, 10), (1, 20)]
    assert [row.range for row in rows] == [pytest.approx(0.30), pytest.approx(0.05)]
    assert [row.sd for row in rows] == [pytest.approx(0.152753, abs=5e-7), pytest.approx(0.028868, abs=5e-7)]
    overall = classify(labelled(labels, truth)).accuracies
    assert overall == (pytest.approx(0.8), pytest.approx(0.7667, abs=5e-5), pytest.approx(0.8333, abs=5e-5))
    assert rows[0].ratio == pytest.approx(0.152753 / np.std(overall, ddof=1), rel=1e-5)
    assert rows[0].sampling_sd == pytest.approx(math.sqrt(26 / 30 * 4 / 30 / 10))


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_those_of_a_loop_over_runs_and_classes(seed: int) -> None:
    found = drawn(seed, n_classes=5)
    rows = class_table(classify(found), 1.0, 0.95)
    assert found.labels is not None
    assert found.truth is not None
    assert sorted(row.label for row in rows) == sorted(set(found.truth.tolist()))
    for row in rows:
        at = [i for i, label in enumerate(found.truth) if label == row.label]
        shares = [sum(run[i] == row.label for i in at) / len(at) for run in found.labels]
        assert row.accuracies == pytest.approx(shares)
        assert row.n_examples == len(at)
    widths = [row.sd for row in rows]
    assert widths == sorted(widths, reverse=True)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("n", "expected"), [(2, 1.1284), (3, 1.6926), (5, 2.3259), (8, 2.8472), (10, 3.0775), (16, 3.5320), (100, 5.0152)]
)
def test_range_of_one_class_is_that_of_a_normal_sample(n: int, expected: float) -> None:
    assert mean_largest_range([1.0], n) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("n", [2, 5, 16, 100])
def test_the_largest_of_classes_is_that_of_drawn_ones(n: int) -> None:
    spreads = [0.5, 1.0, 1.0, 1.3, 2.0]
    draws = np.random.default_rng(n).normal(size=(40_000, n, len(spreads))) * spreads
    ranges, sds = np.ptp(draws, axis=1).max(axis=1), draws.std(axis=1, ddof=1).max(axis=1)
    assert mean_largest_range(spreads, n) == pytest.approx(ranges.mean(), abs=5 * ranges.std() / 200)
    assert mean_largest_sd(spreads, n) == pytest.approx(sds.mean(), abs=5 * sds.std() / 200)


def test_classes_that_flip_alike_are_expected_to_vary_by_their_size() -> None:
    """Examples that are right with one chance in every run, alike in all classes, of which one is rare."""
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], [20, 1000, 1000])
    found, expected, largest = [], [], []
    for _ in range(60):
        wrong = rng.random((12, len(truth))) < 0.3
        rows = table(np.where(wrong, (truth + 1) % 3, truth).tolist(), truth.tolist())
        spreads = equal_spreads(rows)
        assert not isinstance(spreads, Unavailable)
        found.append(max(spreads))
        expected.append(expected_largest_sd(rows))
        largest.append(rows[0].sd)
    assert np.mean(found) == pytest.approx(math.sqrt(0.3 * 0.7 / 20), rel=0.1)
    assert np.mean(largest) == pytest.approx(np.mean(expected), rel=0.1)


def test_a_class_without_spread_or_a_single_run_has_a_named_answer() -> None:
    truth = [0, 0, 1, 1]
    equal = table([[0, 0, 1, 0]] * 3, truth)
    assert [row.sd for row in equal] == [0.0, 0.0]
    assert [type(row.ratio) for row in equal] == [Unavailable, Unavailable]
    assert equal[1].sd_interval == Unavailable(Reason.EQUAL(3))
    assert equal[0].sampling_sd == Unavailable(Reason.ALL_OR_NONE)
    assert expected_largest_sd(equal) == Unavailable("no class has spread")
    single = table([[0, 0, 1, 0]], truth)
    assert single[0].sd == single[0].range == expected_largest_range(single) == Unavailable(Reason.SINGLE_RUN)
    assert class_table(classify(labelled([[0, 1]], None)), 1.0, 0.95) == ()
    assert expected_largest_sd(()) == Unavailable("no class")
