"""Times the complete comparison of 30 metrics x 2 x 100 runs: below 3 s, and five times faster than scipy's bootstrap.

python benchmarks/comparison.py

`judge` computes everything that a report says, each bootstrap from 9999 resamples. Against it stand the same bootstrap
intervals by `scipy.stats.bootstrap`, called per metric with the same number of resamples. It exits with 1 if a goal is
missed.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy import stats as scipy_stats

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from samples import experiment, metric

from deviate.model.comparisons import Comparison
from deviate.model.estimates import N_RESAMPLES
from deviate.model.records import Experiment
from deviate.stats.estimates.bootstrap import (
    Resamples,
    difference_bootstrap,
    glass_delta_bootstrap,
    mean_bootstrap,
    mean_percentile,
    median_bootstrap,
    sd_bootstrap,
    sd_ratio_bootstrap,
)
from deviate.stats.judge import judge

Result = TypeVar("Result")
MOST_SECONDS = 3.0
LEAST_RATIO = 5.0


def main() -> int:
    settings = argparse.ArgumentParser(description=__doc__)
    settings.add_argument("--metrics", type=int, default=30)
    settings.add_argument("--runs", type=int, default=100)
    given = settings.parse_args()
    sides = [made(name, given.metrics, given.runs, shift) for name, shift in (("baseline", 0.0), ("candidate", 0.3))]
    # The shorter of two: other programs on the machine take their share, and the first call loads what it needs.
    complete, findings = min((timed(lambda: judge(sides)) for _ in range(2)), key=lambda it: it[0])
    comparisons = findings.pairs[0].comparisons
    ours, _ = timed(lambda: [by_us(it) for it in comparisons])
    theirs, _ = timed(lambda: [by_scipy(it) for it in comparisons])
    print(f"{given.metrics} metrics x 2 x {given.runs} runs, {N_RESAMPLES} resamples")
    print(f"complete comparison            {complete:7.2f} s   (goal: below {MOST_SECONDS:g} s)")
    print(f"bootstrap intervals, ours      {ours:7.2f} s")
    print(f"bootstrap intervals, scipy     {theirs:7.2f} s")
    print(f"scipy / our intervals          {theirs / ours:7.1f}     (goal: {LEAST_RATIO:g} or more)")
    print(f"scipy / complete comparison    {theirs / complete:7.1f}")
    return complete >= MOST_SECONDS or theirs / ours < LEAST_RATIO


def made(name: str, n_metrics: int, n_runs: int, shift: float) -> Experiment:
    """Accuracies in percent, rounded to test sets of 10,000 examples."""
    rng = np.random.default_rng(len(name))
    names = [f"metric_{i:02d}" for i in range(n_metrics)]
    scores = {it: np.round(rng.normal(90 + shift, 1, n_runs), 2).tolist() for it in names}
    return experiment(name, [metric(it, is_primary=i == 0) for i, it in enumerate(names)], scores)


def timed(function: Callable[[], Result]) -> tuple[float, Result]:
    begin = time.perf_counter()
    result = function()
    return time.perf_counter() - begin, result


def scores_of(comparison: Comparison) -> tuple[list[float], list[float]]:
    b, a = ([score.value for score in side.scores] for side in (comparison.baseline, comparison.candidate))
    return b, a


RESAMPLES = Resamples(np.random.default_rng(0))
"""Shared by all metrics, as in a report."""


def by_us(comparison: Comparison) -> list[object]:
    """Every bootstrap interval of a comparison."""
    b, a = scores_of(comparison)
    of_one = (mean_bootstrap, mean_percentile, sd_bootstrap, median_bootstrap)
    of_two = (difference_bootstrap, sd_ratio_bootstrap, glass_delta_bootstrap)
    return [of(side, rng=RESAMPLES) for side in (b, a) for of in of_one] + [of(b, a, rng=RESAMPLES) for of in of_two]


def by_scipy(comparison: Comparison) -> list[object]:
    """The same."""
    b, a = (np.array(side) for side in scores_of(comparison))
    rng = np.random.default_rng(0)

    def sd(values: np.ndarray, axis: int) -> np.ndarray:
        return np.std(values, axis=axis, ddof=1)

    def difference(candidate: np.ndarray, baseline: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(candidate, axis=axis) - np.mean(baseline, axis=axis)

    def sd_ratio(candidate: np.ndarray, baseline: np.ndarray, axis: int) -> np.ndarray:
        return sd(candidate, axis) / sd(baseline, axis)

    def glass_delta(candidate: np.ndarray, baseline: np.ndarray, axis: int) -> np.ndarray:
        return difference(candidate, baseline, axis) / sd(baseline, axis)

    of_one = ((np.mean, "BCa"), (np.mean, "percentile"), (sd, "BCa"), (np.median, "percentile"))
    asked = [((side,), of, method) for side in (b, a) for of, method in of_one]
    asked += [((a, b), of, "BCa") for of in (difference, sd_ratio, glass_delta)]
    return [
        scipy_stats.bootstrap(data, of, n_resamples=N_RESAMPLES, method=method, vectorized=True, rng=rng)
        for data, of, method in asked
    ]


if __name__ == "__main__":
    sys.exit(main())
