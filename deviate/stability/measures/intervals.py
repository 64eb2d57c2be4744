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
BOUNDS: dict[MeasureName, tuple[float, float]] = {
    "churn": (0.0, 1.0),
    "pearson": (-1.0, 1.0),
    "spearman": (-1.0, 1.0),
    "cka": (0.0, 1.0),
    "ensemble-accuracy": (-1.0, 1.0),
    "weight-distance": (0.0, 2.0),
}
"""Range of a measure; clipping its interval there does not reduce coverage."""
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


def jackknife(value: float, without: Sequence[float], confidence: float) -> Interval | Unavailable:
    """Interval of a figure of all runs, from the figures without each of them.

    Source: Tukey (1958); SE = sqrt((n - 1) / n sum (theta_(-i) - mean)^2), Student t with n - 1 degrees of freedom.
    """
    n = len(without)
    if few := too_few(VERDICT_RUNS, n):
        return few
    if not all(map(math.isfinite, (value, *without))):
        return Unavailable("not defined when a run is left out")
    if max(without) - min(without) <= resolution(without):
        return Unavailable("all runs are alike")
    mean = math.fsum(without) / n
    error = math.hypot(*(estimate - mean for estimate in without)) * math.sqrt((n - 1) / n)
    half_width = t_quantile((1 + confidence) / 2, n - 1) * error
    return Interval(value - half_width, value + half_width, confidence, JACKKNIFE)


def over_pairs(name: MeasureName, matrix: Matrix, confidence: float = 0.95) -> Measure:
    """Mean over the pairs of runs, with its jackknife interval over runs; t with n - 1 df.

    Args:
        matrix: (R, R), symmetric; its diagonal is ignored.

    Source: Tukey (1958); of U-statistics: Arvesen (1969).
    """
    value = _mean(matrix)
    if isinstance(value, Unavailable):
        return Measure(name, value, value)
    n = len(matrix)
    if few := too_few(VERDICT_RUNS, n):
        return Measure(name, value, few)
    if reason := _spread_refusal(matrix):
        return Measure(name, value, reason)
    half = t_quantile((1 + confidence) / 2, n - 1) * standard_error(matrix)
    low, high = BOUNDS.get(name, (-math.inf, math.inf))
    return Measure(name, value, Interval(max(low, value - half), min(high, value + half), confidence, JACKKNIFE))


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
    refusals = [_spread_refusal(side) for side in (baseline, candidate)]
    if all(refusals):
        kind = Reason.IDENTICAL if difference == 0 else Reason.CONSTANT_DIFFERENCE
        return Measure(name, difference, Unavailable(kind))
    sides = [
        # A mean over pairs, as a mean over runs with this standard error.
        SampleSummary(len(side), mean, 0.0 if refused else standard_error(side) * math.sqrt(len(side)))
        for side, mean, refused in zip((baseline, candidate), (before, after), refusals, strict=True)
    ]
    half = t_quantile((1 + confidence) / 2, welch_df(*sides)) * math.hypot(*(side.se for side in sides))
    low, high = BOUNDS.get(name, (-math.inf, math.inf))
    interval = Interval(
        max(low - high, difference - half),
        min(high - low, difference + half),
        confidence,
        f"{JACKKNIFE}, Welch-Satterthwaite df",
    )
    return Measure(name, difference, interval)


def standard_error(matrix: Matrix) -> float:
    """Jackknife standard error, over runs, of the mean over pairs of at least three runs.

    sqrt((n - 1) / n sum (theta_(-i) - mean)^2), theta_(-i) the mean over the pairs without run i.

    Source: Tukey (1958).
    """
    without = _without_each(matrix)
    n = len(without)
    return float(np.linalg.norm(without - without.mean())) * math.sqrt((n - 1) / n)


def _without_each(matrix: Matrix) -> Matrix:
    """The mean over pairs without each run, minus that over all pairs: a small number, so no digits are lost."""
    n = len(matrix)
    apart = mirror(matrix - float(np.mean(_pairs(matrix))))
    without: Matrix = (apart.sum() / 2 - apart.sum(axis=1)) / ((n - 1) * (n - 2) / 2)
    return without


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


def _spread_refusal(matrix: Matrix) -> Unavailable | None:
    """Why there is no standard error: all pairs, or the means of all runs, are equal up to rounding."""
    pairs = _pairs(matrix).tolist()
    finest = resolution(pairs)
    if max(pairs) - min(pairs) < finest:
        return Unavailable(f"all {count(len(pairs), 'pair')} equal")
    if standard_error(matrix) < finest / len(pairs):
        return Unavailable("all runs are alike: leaving one out changes nothing")
    return None


def _nothing(name: MeasureName, reason: str) -> Measure:
    return Measure(name, Unavailable(reason), Unavailable(reason))
