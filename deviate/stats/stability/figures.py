"""Figures over runs that every part of stability gives: mean, range, SD, intervals, or their named answer."""

import math
from collections.abc import Sequence

from deviate.model import Estimate, Interval, Measure, MeasureName, Unavailable
from deviate.model.minimum import VERDICT_RUNS
from deviate.stats.estimates.intervals import mean_interval, sd_interval
from deviate.stats.estimates.sample import Values, count, moments, refusal, resolution
from deviate.stats.estimates.summary import t_quantile
from deviate.stats.registry import statistic
from deviate.stats.stability.jackknife import JACKKNIFE

SINGLE = Unavailable("1 run: spread unknown")
NO_RUN = Unavailable("no completed run")
NO_TRUTH = Unavailable("true labels are not on record")


def mean_of(values: Values) -> Estimate:
    """Mean over runs."""
    if not values:
        return NO_RUN
    return refusal(1, values) or moments(values).mean


def sd_of(values: Values) -> Estimate:
    """Standard deviation over runs, ddof 1; 0 where all are equal."""
    return _refusal(values) or moments(values).sd


def range_of(values: Values) -> Estimate:
    """Largest less smallest."""
    return _refusal(values) or max(values) - min(values)


@statistic(n_samples=1, minimum=2, shift="neither", scale="ignores")
def relative_range(values: Values) -> Estimate:
    """(max - min) / min of positive values, such as times, as a share.

    Source: Pham et al. (2020) give it of times in percent, without its definition; this one is ours.
    """
    if reason := _refusal(values):
        return reason
    low, high = float(min(values)), float(max(values))
    share = (high - low) / low if low > 0 else math.inf
    return share if math.isfinite(share) else Unavailable("not defined: a value at or below 0")


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
    return Measure(name, mean_of(values), SINGLE if len(values) == 1 else mean_interval(values, confidence=confidence))


def sd_measure(name: MeasureName, values: Values, confidence: float) -> Measure:
    """SD over runs with its chi-square interval."""
    return Measure(name, sd_of(values), SINGLE if len(values) == 1 else sd_interval(values, confidence=confidence))


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


def _refusal(values: Values) -> Unavailable | None:
    if len(values) == 0:
        return NO_RUN
    return SINGLE if len(values) == 1 else refusal(2, values)
