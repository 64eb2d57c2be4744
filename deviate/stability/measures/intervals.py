"""Means over runs and over pairs of runs, with intervals over runs, because pairs share runs."""

import math
from collections.abc import Sequence

import numpy as np

from deviate.model.estimates import VERDICT_RUNS, Estimate, Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.model.stability import Measure, MeasureName
from deviate.model.texts import count
from deviate.series.score import LARGEST
from deviate.stability.measures.blocks import Matrix, mirror
from deviate.stats.estimates.one_sample import SINGLE_RUN, mean_interval, mean_of, sd_interval, sd_of
from deviate.stats.estimates.sample import SampleSummary, Values, resolution, too_few
from deviate.stats.estimates.summary import t_quantile, welch_df

JACKKNIFE = "jackknife over runs"
UNBOUNDED = (-math.inf, math.inf)
BOUNDS: dict[MeasureName, tuple[float, float]] = {
    "churn": (0.0, 1.0),
    "pearson": (-1.0, 1.0),
    "spearman": (-1.0, 1.0),
    "cka": (0.0, 1.0),
    "ensemble-accuracy": (-1.0, 1.0),
    "weight-distance": (0.0, 2.0),
}
"""Range of a measure."""
NO_TRUTH = Unavailable("true labels were not recorded")


def ratio_of(part: Estimate, whole: Estimate) -> Estimate:
    """Quotient of two unrounded SDs."""
    if isinstance(part, Unavailable):
        return part
    if isinstance(whole, Unavailable):
        return whole
    return part / whole if whole > 0 else Unavailable("no spread over all examples")


def sampling_sd(share: Estimate, n_examples: int) -> Estimate:
    """Test-set sampling SD of a proportion of correct examples; no number of runs reduces it.

    Source: binomial, sqrt(p (1 - p) / n).
    """
    if isinstance(share, Unavailable):
        return share
    if not 0 < share < 1:
        return Unavailable(Reason.ALL_OR_NONE)
    return math.sqrt(share * (1 - share) / n_examples)


def mean_measure(name: MeasureName, values: Values, confidence: float) -> Measure:
    """Mean over runs with its Student t interval."""
    return Measure(
        name, mean_of(values), SINGLE_RUN if len(values) == 1 else mean_interval(values, confidence=confidence)
    )


def sd_measure(name: MeasureName, values: Values, confidence: float) -> Measure:
    """SD over runs with its chi-square interval."""
    return Measure(name, sd_of(values), SINGLE_RUN if len(values) == 1 else sd_interval(values, confidence=confidence))


def jackknife(
    value: float, without: Sequence[float], confidence: float, bounds: tuple[float, float] = UNBOUNDED
) -> Interval | Unavailable:
    """Interval of a figure of all runs, from the figures without each of them: Student t with n - 1 df.

    Args:
        bounds: range of the figure; clipping the interval there does not reduce its coverage.
    """
    n = len(without)
    if few := too_few(VERDICT_RUNS, n):
        return few
    if not all(map(math.isfinite, (value, *without))):
        return Unavailable("not defined when a run is left out")
    error = standard_error(without)
    if not error:
        return Unavailable("all runs are alike")
    half = t_quantile((1 + confidence) / 2, n - 1) * error
    return Interval(max(bounds[0], value - half), min(bounds[1], value + half), confidence, JACKKNIFE)


def standard_error(without: Sequence[float]) -> float:
    """Jackknife standard error from the figures without each run; 0 if they are equal up to rounding.

    Source: Tukey (1958); sqrt((n - 1) / n sum (theta_(-i) - mean)^2).
    """
    n = len(without)
    if max(without) - min(without) <= resolution(without):
        return 0.0
    mean = math.fsum(without) / n
    return math.hypot(*(estimate - mean for estimate in without)) * math.sqrt((n - 1) / n)


def over_pairs(name: MeasureName, matrix: Matrix, confidence: float = 0.95) -> Measure:
    """Mean over the pairs of runs, with its jackknife interval over runs.

    Args:
        matrix: (R, R), symmetric; its diagonal is ignored.

    Source: of U-statistics: Arvesen (1969).
    """
    value = _mean(matrix)
    if isinstance(value, Unavailable):
        return Measure(name, value, value)
    return Measure(name, value, jackknife(value, without_each(matrix), confidence, BOUNDS.get(name, UNBOUNDED)))


def difference_over_pairs(name: MeasureName, baseline: Matrix, candidate: Matrix, confidence: float = 0.95) -> Measure:
    """Difference of two means over pairs, candidate minus baseline, of independent runs.

    Jackknife standard errors are combined, with degrees of freedom as those of two means.

    Source: Welch (1947), Satterthwaite (1946), with standard errors of the jackknife, Arvesen (1969).
    """
    before, after = _mean(baseline), _mean(candidate)
    if isinstance(before, Unavailable):
        return _nothing(name, f"baseline: {before.reason}")
    if isinstance(after, Unavailable):
        return _nothing(name, f"candidate: {after.reason}")
    difference = after - before
    if few := too_few(VERDICT_RUNS, len(baseline), len(candidate)):
        return Measure(name, difference, few)
    errors = [standard_error(without_each(side)) for side in (baseline, candidate)]
    if not any(errors):
        kind = Reason.IDENTICAL if difference == 0 else Reason.CONSTANT_DIFFERENCE
        return Measure(name, difference, Unavailable(kind))
    sides = [  # a mean over pairs, as a mean over runs with this standard error
        SampleSummary(len(side), mean, error * math.sqrt(len(side)))
        for side, mean, error in zip((baseline, candidate), (before, after), errors, strict=True)
    ]
    half = t_quantile((1 + confidence) / 2, welch_df(*sides)) * math.hypot(*(side.se for side in sides))
    low, high = BOUNDS.get(name, UNBOUNDED)
    interval = Interval(
        max(low - high, difference - half),
        min(high - low, difference + half),
        confidence,
        f"{JACKKNIFE}, Welch-Satterthwaite df",
    )
    return Measure(name, difference, interval)


def without_each(matrix: Matrix) -> list[float]:
    """The mean over the pairs without each run; NaN of two runs."""
    n, mean = len(matrix), float(np.mean(_pairs(matrix)))
    apart = mirror(matrix - mean)  # small numbers, so that their sums lose no digits
    with np.errstate(invalid="ignore"):
        changes = (apart.sum() / 2 - apart.sum(axis=1)) / np.float64((n - 1) * (n - 2) / 2)
    return [mean + float(change) for change in changes]


def _pairs(matrix: Matrix) -> Matrix:
    pairs: Matrix = matrix[np.triu_indices(len(matrix), 1)]
    return pairs


def _mean(matrix: Matrix) -> Estimate:
    """Mean over the pairs, or why there is none."""
    n = len(matrix)
    if n < 2:
        return Unavailable("1 run: no pair to compare" if n else "no completed run")
    pairs = _pairs(matrix)
    is_number = np.abs(pairs) <= LARGEST
    if is_number.all():
        return math.fsum(pairs.tolist()) / len(pairs)
    n_others = mirror((np.abs(matrix) <= LARGEST).astype(np.float64)).sum(axis=1)
    n_whole = int((n_others > 0).sum())
    if n_whole > 1 and (n_others[n_others > 0] == n_whole - 1).all():
        return Unavailable(f"no finite value with {count(n - n_whole, 'run')} of {n}")
    return Unavailable(f"no finite value for {len(pairs) - int(is_number.sum())} of {count(len(pairs), 'pair')}")


def _nothing(name: MeasureName, reason: str) -> Measure:
    return Measure(name, Unavailable(reason), Unavailable(reason))
