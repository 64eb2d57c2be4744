"""Bootstrap over runs: every interval of a report is computed from the same resamples.

The bootstrap is a cross-check of the intervals that rest on normal scores, never a headline below some 20 runs: with
few runs it is too narrow, most of all for the standard deviation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deviate.model.estimates import N_RESAMPLES, Interval, Unavailable
from deviate.model.phrases import Method, Reason
from deviate.stats.estimates.sample import Values, moments, pairs_refusal, ratio_refusal, refusal, spread_refusal
from deviate.stats.registry import statistic

BCA_RUNS = 10
"""Minimum number of runs for resamples to say something about spread."""
MEDIAN_RUNS = 5
MOST_RUNS = 1000
"""Maximum number of runs: beyond, the matrix of resamples is too large, and the other intervals are exact enough."""
N_KEPT, N_SAMPLES_KEPT = 6, 128
"""Maximum numbers of cached matrices of draws and of samples with resampled moments: some 50 and 20 MB for 100 runs."""
NO_SPREAD = 1e-20
"""Variance, in units of the square of the largest deviation, that is rounding of equal values."""
Column = NDArray[np.float64]
Key = TypeVar("Key")
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class SortedResamples:
    """Resamples of n runs whose scores are in ascending order.

    Attributes:
        counts: (resamples, runs), how often each run was drawn. middle: (resamples, 2), the runs with the two middle
            scores of each resample.
    """

    counts: NDArray[np.float64]
    middle: NDArray[np.intp]


class Resamples:
    """Runs drawn with replacement; the same draws for every statistic, in any order of calls.

    The draws depend only on the state of `rng`, the number of runs and the side: all metrics of a comparison share
    them, and results of one metric do not depend on the others.
    """

    def __init__(self, rng: np.random.Generator, n_resamples: int = N_RESAMPLES) -> None:
        self.n_resamples = n_resamples
        self._seed = int(rng.integers(2**63))
        self._kept: dict[tuple[int, int], SortedResamples] = {}
        self._samples: dict[tuple[int, bytes], _Resampled] = {}

    def draws(self, n: int, side: int = 0) -> SortedResamples:
        """Draws of n runs; sides (baseline 0, candidate 1) are drawn independently of each other."""
        indices = self._kept.pop((n, side), None) or self._draw(n, side)
        _keep(self._kept, (n, side), indices, N_KEPT)
        return indices

    def moments(self, values: Values, side: int = 0) -> "_Resampled":
        """Mean and SD in every resample of these scores: several intervals need them."""
        ordered = np.sort(np.asarray(values, dtype=np.float64))
        key = side, ordered.tobytes()
        sample = self._samples.pop(key, None) or _resample(ordered, self.draws(len(ordered), side))
        _keep(self._samples, key, sample, N_SAMPLES_KEPT)
        return sample

    def _draw(self, n: int, side: int) -> SortedResamples:
        # Of a resample only how often it holds each run is kept: means and SDs of all metrics are then weighted sums of
        # the same weights. Scores are sorted before they meet them, so that the order of runs changes no interval.
        generator = np.random.default_rng([self._seed, n, side])
        indices = generator.integers(0, n, (self.n_resamples, n))
        rows = np.arange(self.n_resamples)[:, None] * n
        counts = np.bincount((indices + rows).ravel(), minlength=self.n_resamples * n)
        indices.sort(axis=1)  # of sorted scores: the places in the middle hold the median
        middle = indices[:, [(n - 1) // 2, n // 2]]
        return SortedResamples(counts.reshape(self.n_resamples, n).astype(np.float64), middle)


Source = np.random.Generator | Resamples
"""Where resamples come from: a generator, or shared resamples."""


def _refusal(minimum: int, *samples: Values) -> Unavailable | None:
    if reason := refusal(minimum, *samples):
        return reason
    if max(map(len, samples)) > MOST_RUNS:
        return Unavailable(Reason.TOO_MANY(MOST_RUNS))
    return None


def _without_spread(minimum: int, *samples: Values) -> Unavailable | None:
    return _refusal(minimum, *samples) or spread_refusal(*samples)


def _without_ratio(minimum: int, *samples: Values) -> Unavailable | None:
    return _refusal(minimum, *samples) or ratio_refusal(*samples)


@statistic(n_samples=1, minimum=BCA_RUNS, shift="follows", scale="follows", draws=True, refuse=_without_spread)
def mean_bootstrap(values: Values, *, rng: Source, confidence: float = 0.95) -> Interval | Unavailable:
    """BCa bootstrap interval of the mean.

    Source: Efron (1987); acceleration from the jackknife.
    """
    sample = _resamples(rng).moments(values)
    # Without one run the mean moves in proportion to its deviation; the acceleration is the same at any scale.
    ends = bca_ends(0.0, sample.means, [sample.units], confidence)
    return _interval(ends, confidence, Method.BCA, sample.centre, sample.scale)


@statistic(n_samples=1, minimum=BCA_RUNS, shift="follows", scale="follows", draws=True, refuse=_without_spread)
def mean_percentile(values: Values, *, rng: Source, confidence: float = 0.95) -> Interval | Unavailable:
    """Percentile bootstrap interval of the mean.

    Source: Efron (1979).
    """
    sample = _resamples(rng).moments(values)
    return _interval(
        percentile_ends(sample.means, confidence), confidence, Method.PERCENTILE, sample.centre, sample.scale
    )


@statistic(n_samples=1, minimum=BCA_RUNS, shift="ignores", scale="follows", draws=True, refuse=_without_spread)
def sd_bootstrap(values: Values, *, rng: Source, confidence: float = 0.95) -> Interval | Unavailable:
    """BCa bootstrap interval of the standard deviation (ddof 1); too narrow below some 30 runs.

    Source: Efron (1987); acceleration from the jackknife.
    """
    sample = _resamples(rng).moments(values)
    ends = bca_ends(sample.sd, sample.sds, [influence(sample.sds_without())], confidence)
    return _interval(ends, confidence, Method.BCA, 0.0, sample.scale)


@statistic(n_samples=1, minimum=MEDIAN_RUNS, shift="follows", scale="follows", draws=True, refuse=_without_spread)
def median_bootstrap(values: Values, *, rng: Source, confidence: float = 0.95) -> Interval | Unavailable:
    """Percentile bootstrap interval of the median; BCa has no acceleration there, because the jackknife fails.

    Source: Efron (1979).
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    draws = _resamples(rng).draws(len(ordered))
    medians = (ordered[draws.middle] / 2).sum(axis=1)
    return _interval(percentile_ends(medians, confidence), confidence, Method.PERCENTILE, 0.0, 1.0)


@statistic(n_samples=2, minimum=BCA_RUNS, shift="ignores", scale="follows", draws=True, refuse=_without_spread)
def difference_bootstrap(
    baseline: Values, candidate: Values, *, rng: Source, confidence: float = 0.95
) -> Interval | Unavailable:
    """BCa bootstrap interval of the difference of means, candidate minus baseline.

    Source: Efron (1987); acceleration from the jackknife over the runs of both.
    """
    b, a, scale = _both(baseline, candidate, rng)
    differences = a.scale / scale * a.means - b.scale / scale * b.means
    ends = bca_ends(0.0, differences, [a.scale / scale * a.units, -b.scale / scale * b.units], confidence)
    return _interval(ends, confidence, Method.BCA, a.centre - b.centre, scale)


@statistic(n_samples=2, minimum=BCA_RUNS, shift="ignores", scale="ignores", draws=True, refuse=_without_ratio)
def sd_ratio_bootstrap(
    baseline: Values, candidate: Values, *, rng: Source, confidence: float = 0.95
) -> Interval | Unavailable:
    """BCa bootstrap interval of the SD ratio, candidate over baseline.

    Bias and acceleration are those of the log ratio, so that the two sides exchanged give the inverse. A resample of
    one side may be without spread: its log ratio is infinite and stands at the end of the distribution.
    Source: Efron (1987); acceleration from the jackknife over the runs of both.
    """
    b, a, _ = _both(baseline, candidate, rng)
    # If both lack spread, 0 / 0 is NaN; a single zero gives an infinite logarithm.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratios = np.log(a.sds) - np.log(b.sds)
        influences = [influence(np.log(a.sds_without())), influence(-np.log(b.sds_without()))]
    ends = bca_ends(math.log(a.sd / b.sd), log_ratios, influences, confidence)
    return _ratio_interval(ends, a.scale / b.scale, confidence)


@statistic(n_samples=2, minimum=BCA_RUNS, shift="ignores", scale="ignores", draws=True)
def glass_delta_bootstrap(
    baseline: Values, candidate: Values, *, rng: Source, confidence: float = 0.95
) -> Interval | Unavailable:
    """BCa bootstrap interval of Glass's delta, the difference of means over the SD of the baseline.

    Source: Efron (1987); acceleration from the jackknife over the runs of both.
    """
    if reason := _refusal(BCA_RUNS, baseline, candidate) or ratio_refusal(baseline, baseline):
        return reason
    b, a, scale = _both(baseline, candidate, rng)
    gap = a.centre / scale - b.centre / scale
    of_a, of_b = a.scale / scale, b.scale / scale
    with np.errstate(divide="ignore", invalid="ignore"):  # resamples of the baseline without spread
        deltas = (gap + of_a * a.means - of_b * b.means) / (of_b * b.sds)
        without_a = (gap + of_a * a.means_without()) / (of_b * b.sd)
        without_b = (gap - of_b * b.means_without()) / (of_b * b.sds_without())
    ends = bca_ends(gap / (of_b * b.sd), deltas, [influence(without_a), influence(without_b)], confidence)
    return _interval(ends, confidence, Method.BCA, 0.0, 1.0)


@statistic(n_samples=2, minimum=BCA_RUNS, shift="ignores", scale="ignores", draws=True, is_paired=True)
def paired_sd_ratio_bootstrap(
    baseline: Values, candidate: Values, *, rng: Source, confidence: float = 0.95
) -> Interval | Unavailable:
    """BCa bootstrap interval of the SD ratio, candidate over baseline, of two scores of the same runs in one order.

    Runs are drawn with both of their scores: the F interval is for two sets of runs. Bias and acceleration are those of
    the log ratio.
    Source: Efron (1987); acceleration from the jackknife over runs.
    """
    if reason := pairs_refusal(BCA_RUNS, baseline, candidate) or _without_ratio(BCA_RUNS, baseline, candidate):
        return reason
    draws = _resamples(rng).draws(len(baseline))
    # In an order of their own, for the order of runs must not change what is drawn.
    order = np.lexsort((np.asarray(candidate, dtype=float), np.asarray(baseline, dtype=float)))
    b, a = (_resample(np.asarray(values, dtype=float)[order], draws) for values in (baseline, candidate))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(a.sds) - np.log(b.sds)
        without = np.log(a.sds_without()) - np.log(b.sds_without())
    ends = bca_ends(math.log(a.sd / b.sd), logs, [influence(without)], confidence)
    return _ratio_interval(ends, a.scale / b.scale, confidence)


@dataclass(frozen=True, slots=True)
class _Resampled:
    """A sample in units of its largest deviation from the mean, with the moments of its resamples in these units.

    Centred and scaled first, as squares of scores around 1e9, or beyond 1e150, would lose their spread.
    """

    centre: float
    scale: float
    units: Column
    means: Column
    sds: Column

    @property
    def sd(self) -> float:
        return math.sqrt(math.fsum(self.units**2) / (len(self.units) - 1))

    def means_without(self) -> Column:
        """Means that leave out one run each."""
        return -self.units / (len(self.units) - 1)

    def sds_without(self) -> Column:
        """Standard deviations (ddof 1) that leave out one run each."""
        n = len(self.units)
        # Leaving a deviation u out moves the mean by -u / (n - 1): of the squares u^2 n / (n - 1) goes.
        squares = math.fsum(self.units**2) - self.units**2 * n / (n - 1)
        return np.sqrt(np.where(squares > 1e-12, squares, 0.0) / (n - 2))


def _resample(values: Column, draws: SortedResamples) -> _Resampled:
    n, centre = len(values), moments(values.tolist()).mean
    deviations = values - centre
    deviations -= math.fsum(deviations) / n  # rounding error of the mean of large scores
    scale = float(np.abs(deviations).max()) or 1.0
    units = deviations / scale
    # No matrix product: its last bits depend on the number of threads, and it is slow on a busy machine.
    first, second = (np.einsum("ij,j->i", draws.counts, part) / n for part in (units, units**2))
    variances = np.maximum(second - first**2, 0.0) * n / (n - 1)
    close = np.flatnonzero(variances < 1e-6)  # without the scale-setting outlier: the difference has no digits left
    variances[close] = (draws.counts[close] * (units - first[close, None]) ** 2).sum(axis=1) / (n - 1)
    return _Resampled(centre, scale, units, first, np.sqrt(np.where(variances > NO_SPREAD, variances, 0.0)))


def _both(baseline: Values, candidate: Values, rng: Source) -> tuple[_Resampled, _Resampled, float]:
    resamples = _resamples(rng)
    b, a = resamples.moments(baseline), resamples.moments(candidate, 1)
    # One unit for both; a side without spread has none of its own, and its 1 could be out of all proportion.
    scales = [one.scale for one, values in ((b, baseline), (a, candidate)) if min(values) < max(values)]
    return b, a, max(scales)


def _interval(
    ends: tuple[float, float] | Unavailable, confidence: float, method: str, centre: float, scale: float
) -> Interval | Unavailable:
    if isinstance(ends, Unavailable):
        return ends
    return Interval(centre + scale * ends[0], centre + scale * ends[1], confidence, method)


def _ratio_interval(
    log_ends: tuple[float, float] | Unavailable, unit: float, confidence: float
) -> Interval | Unavailable:
    if isinstance(log_ends, Unavailable):
        return log_ends
    return Interval(unit * math.exp(log_ends[0]), unit * math.exp(log_ends[1]), confidence, Method.BCA)


def _keep(cache: dict[Key, Kept], key: Key, value: Kept, n_most: int) -> None:
    """Cache a value as the latest; the least recently used one is dropped."""
    cache[key] = value
    if len(cache) > n_most:
        del cache[next(iter(cache))]


def _resamples(rng: Source) -> Resamples:
    return rng if isinstance(rng, Resamples) else Resamples(rng)


def bca_ends(
    estimate: float, resampled: Column, influences: Sequence[Column], confidence: float
) -> tuple[float, float] | Unavailable:
    """Ends of the bias-corrected and accelerated interval.

    Args:
        resampled: the estimate in each resample; infinite ones stand at the ends of their distribution.
        influences: `influence` of each run of each sample.

    Source: Efron (1987); several samples as in `scipy.stats.bootstrap`.
    """
    if np.isnan(resampled).any():
        return Unavailable(Reason.NOT_RESAMPLED)
    tolerance = 1e-12 * max(1.0, abs(estimate))
    # Resamples that equal the estimate count by half: with few runs many do, and would bias it if all were on one side.
    below = np.count_nonzero(resampled < estimate - tolerance)
    at_most = np.count_nonzero(resampled <= estimate + tolerance)
    bias = float(special.ndtri((below + at_most) / (2 * len(resampled))))
    largest = float(np.abs(np.concatenate(influences)).max())
    if not (math.isfinite(bias) and 0 < largest < math.inf):
        return Unavailable(Reason.ONE_RUN_SPREADS)
    # The skewness of the influences over 6. With several samples each is divided by its number of runs, as the estimate
    # varies by the sum of their variances. In units of the largest, for the cubes of large ones are no floats.
    cubes, squares = (
        sum(float(((part / largest) ** power).sum()) / len(part) ** power for part in influences) for power in (3, 2)
    )
    acceleration = cubes / squares**1.5 / 6
    tails = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = bias + float(special.ndtri(tail))
        if acceleration * z >= 1:  # the transformed level has a pole there, and would come back from the other end
            return Unavailable(Reason.ONE_RUN_SPREADS)
        tails.append(float(special.ndtr(bias + z / (1 - acceleration * z))))
    return _quantiles(resampled, tails)


def percentile_ends(resampled: Column, confidence: float) -> tuple[float, float] | Unavailable:
    """Ends of the percentile interval.

    Source: Efron (1979).
    """
    return _quantiles(resampled, [(1 - confidence) / 2, (1 + confidence) / 2])


def _quantiles(resampled: Column, tails: Sequence[float]) -> tuple[float, float] | Unavailable:
    with np.errstate(invalid="ignore"):  # between a number and infinity
        low, high = (float(end) for end in np.quantile(resampled, tails))
    return (low, high) if -math.inf < low < high < math.inf else Unavailable(Reason.NOT_RESAMPLED)


def influence(without: Column) -> Column:
    """Jackknife: by how much each run moves the estimate, from the estimates without it."""
    with np.errstate(invalid="ignore"):  # an infinite estimate is refused where the jackknife is used
        by_run: Column = (len(without) - 1) * (without.mean() - without)
    return by_run
