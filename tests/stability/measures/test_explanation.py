"""The figures of docs/explanation/stability.md are those of the code."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from deviate.model.estimates import Interval
from deviate.stability.measures.intervals import over_pairs
from deviate.stability.measures.pairwise import disagreement
from deviate.stats.estimates.largest import mean_largest_range, mean_largest_sd

PAGE = (Path(__file__).parents[3] / "docs/explanation/stability.md").read_text(encoding="utf-8")


def test_the_table_of_the_largest_is_computed() -> None:
    table = re.findall(r"^\| (\d+) \|((?: [0-9.]+ \|){6})$", PAGE, re.MULTILINE)
    assert len(table) == 5
    for n_classes, cells in table:
        spreads = [1.0] * int(n_classes)
        computed = [
            *(mean_largest_sd(spreads, n) for n in (5, 10, 30)),
            *(mean_largest_range(spreads, n) for n in (5, 10, 30)),
        ]
        assert [float(it) for it in cells.replace("|", " ").split()] == pytest.approx(computed, abs=0.0051)


@pytest.mark.parametrize(("n_runs", "pairs"), [(10, 47), (20, 35)])
def test_intervals_that_take_pairs_for_runs_miss_the_churn(n_runs: int, pairs: int) -> None:
    """Runs whose predictions are off by noise of different size, on examples of different difficulty."""
    assert f"{pairs} %" in PAGE
    assert "95 % of both" in PAGE
    rng = np.random.default_rng(0)
    examples = rng.normal(size=500)
    means, by_runs, by_pairs = [], [], []
    for _ in range(400):
        noise = 0.7 * np.exp(0.3 * rng.normal(size=(n_runs, 1)))
        matrix = disagreement((examples + noise * rng.normal(size=(n_runs, 500)) > 0).astype(np.int64))
        found = over_pairs("churn", matrix)
        assert isinstance(found.interval, Interval)
        values = matrix[np.triu_indices(n_runs, 1)]
        half = scipy_stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
        means.append(values.mean())
        by_runs.append((found.interval.low, found.interval.high))
        by_pairs.append((values.mean() - half, values.mean() + half))
    true = np.mean(means)
    assert 100 * np.mean([low <= true <= high for low, high in by_runs]) == pytest.approx(95, abs=4)
    assert 100 * np.mean([low <= true <= high for low, high in by_pairs]) == pytest.approx(pairs, abs=8)


def test_a_group_of_a_hundredth_of_the_data_has_ten_times_the_spread_of_all() -> None:
    """Examples that flip alike and each for itself: the SD goes with the root of their number."""
    flips = np.random.default_rng(0).random((2000, 2000)) < 0.2
    ratio = flips[:, :20].mean(axis=1).std(ddof=1) / flips.mean(axis=1).std(ddof=1)
    assert ratio == pytest.approx(10, rel=0.08)
    assert "a ratio of 10 if" in PAGE
