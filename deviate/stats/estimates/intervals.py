"""Standard error and interval of the mean, interval of the standard deviation, of one metric over runs."""

from deviate.model import Estimate, Interval, Unavailable
from deviate.stats.estimates import summary
from deviate.stats.estimates.sample import Values, moments, without_spread
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
