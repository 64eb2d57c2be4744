"""Figures over runs that every part of stability gives: mean, range, SD, intervals, or their named answer."""

import math
from collections.abc import Sequence

from deviate.model import Estimate, Interval, Measure, MeasureName, Unavailable
from deviate.model.minimum import VERDICT_RUNS
from deviate.stability.measures.jackknife import JACKKNIFE
from deviate.stats import SINGLE_RUN, Values, count, mean_interval, mean_of, resolution, sd_interval, sd_of, t_quantile

NO_TRUTH = Unavailable("true labels are not on record")


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
        return Unavailable("all examples alike in every run")
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
    if n < VERDICT_RUNS:
        return Unavailable(f"needs {count(VERDICT_RUNS, 'run')}, has {n}")
    if not all(map(math.isfinite, (value, *without))):
        return Unavailable("not defined without one of the runs")
    if max(without) - min(without) <= resolution(without):
        return Unavailable("all runs alike")
    mean = math.fsum(without) / n
    error = math.hypot(*(estimate - mean for estimate in without)) * math.sqrt((n - 1) / n)
    half_width = t_quantile((1 + confidence) / 2, n - 1) * error
    return Interval(value - half_width, value + half_width, confidence, JACKKNIFE)
