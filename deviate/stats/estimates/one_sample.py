"""One sample of scores, a score per run: standard error, intervals, spread relative to the level, range."""

import math

from deviate.model import NOT_APPLICABLE, Estimate, Interval, SelectedMetric, Unavailable
from deviate.stats.estimates import summary
from deviate.stats.estimates.sample import Values, moments, refusal, without_spread
from deviate.stats.estimates.sampling import is_accuracy, whole_of
from deviate.stats.registry import statistic


@statistic(n_samples=1, minimum=2, shift="ignores", scale="follows", refuse=without_spread)
def standard_error(values: Values) -> Estimate:
    """Standard error of the mean, s / sqrt(n).

    Source: Student (1908).
    """
    return moments(values).se


@statistic(n_samples=1, minimum=2, shift="follows", scale="follows", refuse=without_spread)
def mean_interval(values: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Student t interval of the mean: m ± t(1 - alpha/2; n-1) s / sqrt(n).

    Source: Student (1908).
    """
    return summary.mean_interval(moments(values), confidence=confidence)


@statistic(n_samples=1, minimum=2, shift="ignores", scale="follows", refuse=without_spread)
def sd_interval(values: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Chi-square interval of the standard deviation, for normal scores; it is not robust to heavy tails.

    Source: s sqrt((n-1) / chi2(1 - alpha/2; n-1)) to s sqrt((n-1) / chi2(alpha/2; n-1)); Pham et al. (2021).
    """
    return summary.sd_interval(moments(values), confidence=confidence)


@statistic(n_samples=1, minimum=3, shift="neither", scale="ignores", refuse=refusal)
def coefficient_of_variation(values: Values) -> Estimate:
    """Standard deviation over |mean|, where the mean is a scale to measure by.

    It is one when all scores are positive and the 95 % interval of the mean excludes 0: a mean that the runs cannot
    tell from 0 would make the quotient arbitrarily large, and what is negative, as a log-likelihood, has no zero to
    measure from.
    Source: the usual quotient, with the SD of ddof 1.
    """
    sample = moments(values)
    if not min(values) > 0:
        return Unavailable("not defined for this metric: scores at or below 0")
    interval = mean_interval(values)
    if not isinstance(interval, Unavailable) and interval.low <= 0 <= interval.high:
        return Unavailable("not defined for this metric: mean near 0")
    return sample.sd / abs(sample.mean)


@statistic(n_samples=1, minimum=3, shift="neither", scale="ignores")
def variation_interval(values: Values, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Interval of the coefficient of variation: that of the SD over |mean|, as if the mean were known.

    It is near enough where the mean is more than ten standard errors from 0.
    Source: chi-square interval of the SD.
    """
    cv = coefficient_of_variation(values)
    if isinstance(cv, Unavailable):
        return cv
    spread = sd_interval(values, confidence=confidence)
    if isinstance(spread, Unavailable):
        return spread
    sample = moments(values)
    if abs(sample.mean) <= 10 * sample.se:
        return Unavailable("mean within ten standard errors of 0")
    size = abs(sample.mean)
    return Interval(spread.low / size, spread.high / size, confidence, "chi-square, mean taken as known")


def error_variation(values: Values, metric: SelectedMetric) -> Estimate:
    """Coefficient of variation of the error rate that belongs to an accuracy above one half.

    An accuracy's own says little near 1: 0.1 points are a thousandth of 99 %, but a tenth of the 1 % that is wrong.
    Source: SD over 1 - mean.
    """
    whole = whole_of(metric, values) if values and is_accuracy(metric) else None
    if whole is None or refusal(1, values) or moments(values).mean <= whole / 2:
        return NOT_APPLICABLE
    return coefficient_of_variation([whole - value for value in values])


# Figures over runs, or their named answer.

SINGLE_RUN = Unavailable("1 run: spread unknown")
NO_RUN = Unavailable("no completed run")


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


def _refusal(values: Values) -> Unavailable | None:
    if len(values) == 0:
        return NO_RUN
    return SINGLE_RUN if len(values) == 1 else refusal(2, values)
