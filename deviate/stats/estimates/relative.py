"""Spread relative to the level of a metric, where the level is a scale to measure by."""

from deviate.model import NOT_APPLICABLE, Estimate, Interval, SelectedMetric, Unavailable
from deviate.stats.estimates.intervals import mean_interval, sd_interval
from deviate.stats.estimates.sample import Values, moments, refusal
from deviate.stats.estimates.sampling import is_accuracy, whole_of
from deviate.stats.registry import statistic


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
