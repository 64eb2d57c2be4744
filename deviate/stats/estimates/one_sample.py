"""One sample of scores, a score per run: standard error, intervals, relative spread, robust companions and shape."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deviate.model.estimates import NOT_APPLICABLE, Estimate, Interval, Unavailable
from deviate.model.phrases import Method, Note, Reason
from deviate.model.plan import SelectedMetric
from deviate.stats.estimates.sample import Sample, Values, moments, refusal, resolution, without_spread
from deviate.stats.estimates.sampling import is_accuracy, whole_of
from deviate.stats.estimates.summary import sd_ends, t_quantile
from deviate.stats.registry import statistic


@statistic(n_samples=1, minimum=2, shift="ignores", scale="follows", refuse=without_spread)
def standard_error(values: Values) -> Estimate:
    """Standard error of the mean, s / sqrt(n).

    Source: Student (1908).
    """
    return moments(values).se


@statistic(n_samples=1, minimum=2, shift="follows", scale="follows", refuse=without_spread)
def mean_interval(values: Sample, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Student t interval of the mean: m ± t(1 - alpha/2; n-1) s / sqrt(n).

    Source: Student (1908).
    """
    side = moments(values)
    half_width = t_quantile((1 + confidence) / 2, side.n - 1) * side.se
    return Interval(side.mean - half_width, side.mean + half_width, confidence, Method.STUDENT_T)


@statistic(n_samples=1, minimum=2, shift="ignores", scale="follows", refuse=without_spread)
def sd_interval(values: Sample, *, confidence: float = 0.95) -> Interval | Unavailable:
    """Chi-square interval of the standard deviation, for normal scores; it is not robust to heavy tails.

    Source: s sqrt((n-1) / chi2(1 - alpha/2; n-1)) to s sqrt((n-1) / chi2(alpha/2; n-1)); Pham et al. (2021).
    """
    side = moments(values)
    low, high = sd_ends(side.n - 1, confidence)
    return Interval(side.sd * low, side.sd * high, confidence, "chi-square")


@statistic(n_samples=1, minimum=3, shift="neither", scale="ignores", refuse=refusal)
def coefficient_of_variation(values: Values) -> Estimate:
    """Standard deviation over |mean|, where this quotient is meaningful.

    It is meaningful when all scores are positive and the 95 % interval of the mean excludes 0: a mean near 0 would make
    the quotient arbitrarily large, and negative scores, such as log-likelihoods, have no natural zero.
    Source: the usual quotient, with the SD of ddof 1.
    """
    sample = moments(values)
    if not min(values) > 0:
        return Unavailable(Reason.NOT_POSITIVE)
    interval = mean_interval(values)
    if not isinstance(interval, Unavailable) and interval.low <= 0 <= interval.high:
        return Unavailable(Reason.NEAR_ZERO)
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
        return Unavailable(Reason.NEAR_ZERO)
    size = abs(sample.mean)
    return Interval(spread.low / size, spread.high / size, confidence, Method.CHI_SQUARE_OF_CV)


def error_variation(values: Values, metric: SelectedMetric) -> Estimate:
    """Coefficient of variation of the error rate that belongs to an accuracy above one half.

    That of the accuracy says little near 1: 0.1 points are 0.1 % of 99 %, but 10 % of the remaining 1 %.
    Source: SD over 1 - mean.
    """
    whole = whole_of(metric, values) if values and is_accuracy(metric) else None
    if whole is None or refusal(1, values) or moments(values).mean <= whole / 2:
        return NOT_APPLICABLE
    return coefficient_of_variation([whole - value for value in values])


# Figures over runs, or their named answer.

SINGLE_RUN = Unavailable(Reason.SINGLE_RUN)
NO_RUN = Unavailable(Reason.NO_RUN)


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
    return share if math.isfinite(share) else Unavailable(Reason.NOT_POSITIVE)


def _refusal(values: Values) -> Unavailable | None:
    if len(values) == 0:
        return NO_RUN
    return SINGLE_RUN if len(values) == 1 else refusal(2, values)


# Robust companions of mean and SD, and the shape of scores: what tells that a few runs carry the figures.

SHAPE_RUNS = 5
"""Minimum number of scores to describe a shape."""
OUTLYING = 3.5
"""MADs from the median beyond which a run is listed.

This is not a verdict: 21 % of all samples of 5 normal scores have such a run, 13 % of 10, 9 % of 30.
"""
NORMAL_MAD = 1.482602218505602
"""SD of a normal distribution over its median absolute deviation: 1 / its third quartile."""
LEAST_FOR_TAILS = 8
"""Runs below which tails are not judged: of five values one that lies apart is no shape."""
KURTOSIS_LIMITS = {8: 3.75, 10: 3.45, 15: 2.95, 20: 2.55, 30: 2.15, 50: 1.65, 100: 1.15}
"""Runs to the excess kurtosis that normal scores exceed in 2.5 % of all samples (200,000 each), rounded up; between
these numbers of runs it is interpolated, beyond the last it stays."""
SPREAD_LIMITS = {8: 2.8, 9: 2.8, 10: 2.4, 15: 2.0, 20: 1.75, 30: 1.55, 50: 1.4, 100: 1.25}
"""Likewise for the SD over the MAD.

Both rules together: 3 to 5 % of normal samples from 8 to 100 runs, fewer beyond; 6 % at 30 runs where scores are
rounded to half an SD.
"""


def quartiles(values: Values) -> tuple[float, float] | Unavailable:
    """First and third quartile, linear between order statistics.

    Source: Hyndman & Fan (1996), definition 7, the default of numpy and of R.
    """
    if reason := refusal(SHAPE_RUNS, values):
        return reason
    ordered = sorted(float(value) for value in values)
    return _quantile(ordered, 0.25), _quantile(ordered, 0.75)


@statistic(n_samples=1, minimum=SHAPE_RUNS, shift="ignores", scale="follows", refuse=without_spread)
def interquartile_range(values: Values) -> Estimate:
    """Third minus first quartile.

    Source: Hyndman & Fan (1996), definition 7.
    """
    ordered = sorted(float(value) for value in values)
    return _quantile(ordered, 0.75) - _quantile(ordered, 0.25)


@statistic(n_samples=1, minimum=SHAPE_RUNS, shift="ignores", scale="follows", refuse=without_spread)
def median_deviation(values: Values) -> Estimate:
    """Median absolute deviation from the median, scaled to the SD of normal scores; 0 where most scores are equal.

    Source: Hampel (1974).
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return NORMAL_MAD * _middle(np.sort(np.abs(ordered - _middle(ordered))))


@statistic(n_samples=1, minimum=SHAPE_RUNS, shift="ignores", scale="ignores", refuse=without_spread)
def skewness(values: Values) -> Estimate:
    """Fisher-Pearson skewness, bias-corrected: 0 for symmetrical scores, positive with a long tail upwards.

    Source: Joanes & Gill (1998), G1.
    """
    n, units = len(values), _units(values)
    second, third = (math.fsum(units**power) / n for power in (2, 3))
    return math.sqrt(n * (n - 1)) / (n - 2) * third / math.sqrt(second) ** 3


@statistic(n_samples=1, minimum=SHAPE_RUNS, shift="ignores", scale="ignores", refuse=without_spread)
def excess_kurtosis(values: Values) -> Estimate:
    """Excess kurtosis, bias-corrected: 0 for normal scores, positive with heavy tails.

    Source: Joanes & Gill (1998), G2.
    """
    n, units = len(values), _units(values)
    second, fourth = (math.fsum(units**power) / n for power in (2, 4))
    return (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (fourth / second**2 - 3) + 6)


def outliers(values: Values) -> tuple[int, ...]:
    """Positions of the scores farther than `OUTLYING` MADs from the median; none where the MAD is 0 or not defined.

    Source: the rule of Iglewicz & Hoaglin (1993), modified z-score above 3.5.
    """
    mad = _scale(values)
    if mad is None:
        return ()
    middle = _middle(np.sort(np.asarray(values, dtype=np.float64)))
    return tuple(place for place, value in enumerate(values) if abs(value - middle) > OUTLYING * mad)


@dataclass(frozen=True, slots=True)
class Tails:
    """Excess kurtosis and SD over MAD, each None if it is within the limits for normal scores."""

    kurtosis: float | None
    spread: float | None


def heavy_tails(values: Values) -> Tails | None:
    """Whether tails look heavier than those of normal scores; None where nothing speaks for it.

    Of normal samples fewer than 5 % are called heavy, whatever the number of runs; with fewer than eight, none are.
    """
    kurtosis, mad = excess_kurtosis(values), _scale(values)
    if isinstance(kurtosis, Unavailable) or len(values) < LEAST_FOR_TAILS:
        return None
    spread = None if mad is None else moments(values).sd / mad
    n = len(values)
    tails = Tails(
        kurtosis if kurtosis > _limit(KURTOSIS_LIMITS, n) else None,
        spread if spread is not None and spread > _limit(SPREAD_LIMITS, n) else None,
    )
    return None if tails == Tails(None, None) else tails


def tails_text(values: Values) -> str:
    """A sentence on what heavy tails mean for the figures; empty if tails are not heavy."""
    tails = heavy_tails(values)
    if tails is None:
        return ""
    signs = (Note.KURTOSIS, tails.kurtosis), (Note.SD_OF_MADS, tails.spread)
    return Note.HEAVY_TAILS(tuple(sign(value) for sign, value in signs if value is not None))


def _limit(limits: dict[int, float], n: int) -> float:
    return float(np.interp(n, list(limits), list(limits.values())))


def _scale(values: Values) -> float | None:
    """The MAD; None if it is only rounding."""
    mad = median_deviation(values)
    return None if isinstance(mad, Unavailable) or mad < resolution(values) else mad


def _units(values: Values) -> NDArray[np.float64]:
    """Deviations from the mean over the largest, sorted: powers of large scores would overflow."""
    deviations = np.sort(np.asarray(values, dtype=np.float64)) - moments(values).mean
    deviations -= math.fsum(deviations) / len(deviations)
    return np.asarray(deviations / np.abs(deviations).max())


def _middle(ordered: NDArray[np.float64]) -> float:
    n = len(ordered)
    return float(ordered[(n - 1) // 2]) / 2 + float(ordered[n // 2]) / 2


def _quantile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
