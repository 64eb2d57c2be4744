"""Comparison of curves: a metric against main-loop steps, at the steps that every run of both sides reported.

Several values within a step enter by their mean, so that runs with unequal numbers of them can be compared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import scipy
from numpy.typing import NDArray

from deviate.model.comparisons import CurveComparison
from deviate.model.estimates import VERDICT_RUNS, Estimate, Unavailable
from deviate.model.phrases import Method, Note, Reason, remarks
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Series
from deviate.series.score import LARGEST
from deviate.stats.estimates.sample import too_few
from deviate.stats.hypothesis.two_sample import welch, welch_interval

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
MOST_STEPS = 100
"""Maximum number of steps at which curves are compared, equally spaced among those that all runs reported."""


@dataclass(frozen=True, slots=True)
class _Curve:
    """The finite values of one run in the main loop."""

    steps: Integers
    values: Floats

    def at(self, steps: Integers) -> Floats:
        if len(steps) == len(self.steps):
            return self.values
        return self.values[np.searchsorted(self.steps, steps)]


def compare_curves(
    baseline: Experiment,
    candidate: Experiment,
    metric: SelectedMetric,
    candidate_metric: SelectedMetric,
    *,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> CurveComparison | Unavailable:
    """Compare the curves of the completed runs.

    A value that is not finite counts as not reported. Where neither side shows spread the band has no width if both are
    equal, and no ends if they are not: nothing is said about that step.
    Source: `simultaneous_quantile` for the band; the area is the trapezoid rule over the range of steps, so a mean over
    the curve.
    """
    sides = [_curves(baseline, metric.name), _curves(candidate, candidate_metric.name)]
    if not all(sides):
        return Unavailable(Reason.NO_CURVE)
    every = [curve for side in sides for curve in side]
    common, n_left_out = _common_steps(every)
    if len(common) < 2:
        return Unavailable(Reason.SHORT_CURVE)
    places = np.unique(np.linspace(0, len(common) - 1, min(MOST_STEPS, len(common))).round().astype(int))
    b, a = (np.stack([curve.at(common)[places] for curve in side]) for side in sides)
    areas = [[_area(common, curve.at(common)) for curve in side] for side in sides]
    steps = tuple(common[places].tolist())
    difference = a.mean(axis=0) - b.mean(axis=0)
    band, method = _band(b, a, difference, confidence, rng)
    low, high = np.array(band).reshape(-1, 2).T
    outside = np.flatnonzero((low > 0) | (high < 0))
    area: Estimate = float(np.mean(areas[1]) - np.mean(areas[0]))
    return CurveComparison(
        steps=steps,
        n=(len(b), len(a)),
        baseline=tuple(b.mean(axis=0).tolist()),
        candidate=tuple(a.mean(axis=0).tolist()),
        difference=tuple(difference.tolist()),
        band=band,
        band_method=method,
        first_difference=steps[outside[0]] if len(outside) else None,
        area_difference=area,
        area_interval=welch_interval(areas[0], areas[1], confidence=confidence),
        area_test=welch(areas[0], areas[1]),
        n_left_out=n_left_out,
        note=_note(len(steps), len(common), b, a),
        baseline_half_widths=_half_widths(b, confidence),
        candidate_half_widths=_half_widths(a, confidence),
        confidence=confidence,
    )


def _curves(experiment: Experiment, name: str) -> list[_Curve]:
    curves = []
    for run in experiment.runs:
        if run.status == "completed" and name in run.series:
            steps, values, _ = main_loop(run.series[name])
            is_finite = np.abs(values) <= LARGEST  # NaN is not
            if not is_finite.all():
                steps, values = steps[is_finite], values[is_finite]
            steps, values = step_means(steps, values)
            if len(steps):
                curves.append(_Curve(steps, values))
    return curves


def _common_steps(curves: Sequence[_Curve]) -> tuple[Integers, int]:
    """The steps that all runs have, and the number of other steps."""
    first = curves[0].steps
    if all(np.array_equal(curve.steps, first) for curve in curves[1:]):
        return first, 0
    steps = [curve.steps for curve in curves]
    common = reduce(lambda one, other: np.intersect1d(one, other, assume_unique=True), steps)
    return common, len(reduce(np.union1d, steps)) - len(common)


def _area(steps: Integers, values: Floats) -> float:
    return float(scipy.integrate.trapezoid(values, steps) / (steps[-1] - steps[0]))


def _half_widths(values: Floats, confidence: float) -> tuple[float, ...]:
    """Half-widths of the t interval of the mean per step, pointwise. Source: Student (1908)."""
    n = len(values)
    if n < 2:
        return ()
    scale = np.abs(values).max(axis=0) + 1 / LARGEST
    half = (
        float(scipy.stats.t.ppf((1 + confidence) / 2, n - 1))
        * scale
        * (values / scale).std(axis=0, ddof=1)
        / np.sqrt(n)
    )
    return tuple(half.tolist())


def _band(
    b: Floats, a: Floats, difference: Floats, confidence: float, rng: np.random.Generator
) -> tuple[tuple[tuple[float, float], ...], str]:
    """Low and high end per step, empty with too few runs; and a description of the band, or why there is none."""
    if few := too_few(VERDICT_RUNS, len(b), len(a)):
        return (), Method.NO_BAND(few.reason)
    finest = 2 * np.spacing(np.maximum(np.abs(a).max(axis=0), np.abs(b).max(axis=0))) + 1 / LARGEST
    has_spread = (np.ptp(a, axis=0) >= finest) | (np.ptp(b, axis=0) >= finest)
    half = np.where(difference == 0, 0.0, np.inf)
    if has_spread.any():
        # In units of the largest value, as squares of large scores leave the range of floats.
        scale = np.maximum(np.abs(a).max(axis=0), np.abs(b).max(axis=0))[has_spread]
        one, other = b[:, has_spread] / scale, a[:, has_spread] / scale
        quantile = simultaneous_quantile(one, other, confidence=confidence, rng=rng)
        half[has_spread] = (
            quantile * scale * np.sqrt(one.var(axis=0, ddof=1) / len(b) + other.var(axis=0, ddof=1) / len(a))
        )
    band = tuple(zip((difference - half).tolist(), (difference + half).tolist(), strict=True))
    n_spread = int(has_spread.sum())
    n_without = len(has_spread) - n_spread
    method = Method.BAND(n_spread) if n_spread else ""
    return band, remarks(method, Note.FLAT_STEPS(n_without) if n_without else "")


def _note(n_compared: int, n_common: int, b: Floats, a: Floats) -> str:
    is_flat = np.array_equal(b.min(axis=0), b.max(axis=0)) and np.array_equal(a.min(axis=0), a.max(axis=0))
    selected = Note.SELECTED_STEPS(n_compared, n_common) if n_compared < n_common else ""
    return remarks(Note.EXPLORATORY, selected, Reason.NO_SPREAD if is_flat else "")


# The main-loop series of a run as arrays.


def main_loop(series: Series) -> tuple[Integers, Floats, Floats]:
    """Steps, values and times within the main loop; times are empty if not recorded."""
    steps = np.asarray(series.steps)
    values = np.asarray(series.values, dtype=np.float64)
    times = np.asarray(series.times, dtype=np.float64)
    if steps.dtype == object:
        is_inside = np.array([step is not None for step in series.steps], dtype=bool)
        steps, values = steps[is_inside], values[is_inside]
        times = times[is_inside] if len(times) else times
    return steps.astype(np.int64), values, times


def step_means(steps: Integers, values: Floats) -> tuple[Integers, Floats]:
    """Each step once, with the mean of its values; `steps` must not fall."""
    begins = np.flatnonzero(np.diff(steps, prepend=steps[:1] - 1))
    if len(begins) == len(steps):
        return steps, values
    counts = np.diff(begins, append=len(steps))
    return steps[begins], np.add.reduceat(values / np.repeat(counts, counts), begins)


# A band that holds over a whole curve at once: how wide it must be, in standard errors, for steps that go together.
# Exchanging runs between sides, or resampling what is left of them, gives bands that cover 75 % in place of 95 % at
# five runs a side if one side varies three times as much as the other, and Bonferroni's covers 86 % at 5 against 15
# runs, for Welch's degrees of freedom do not hold so far out. So curves like those observed are simulated: normal, with
# their number of runs, their ratio of spreads, and steps that forget each other at a steady rate, the fastest rate that
# the observed correlations show over any distance. Smooth curves and such with a level of their own forget more slowly
# somewhere, which makes the band too wide rather than too narrow.

Numbers = NDArray[np.floating]
HALF_LEFT = 0.5
"""Correlation below which distances between steps are ignored."""
RATIO_ERRORS = 2.0
"""Uncertainty of the ratio of spreads in standard errors: the widest band within it is used."""
LARGEST_RATIO = 1e3
N_NUMBERS = 1_200_000
"""Maximum number of random numbers for a band: a few hundredths of a second."""
FEWEST_CURVES = 199


def simultaneous_quantile(
    baseline: Floats,
    candidate: Floats,
    *,
    confidence: float,
    rng: np.random.Generator,
    n_numbers: int = N_NUMBERS,
) -> float:
    """The largest |t| over all steps that is exceeded with a probability of 1 - `confidence` where sides are equal.

    Args:
        baseline, candidate: a row per run, two at least, a column per step; each step with spread on some side.
        n_numbers: random numbers to simulate with, which is how many curves, 200 at least.

    Source: single-step max-t of Westfall & Young (1993), by parametric bootstrap; Welch (1947) for t.
    """
    n_b, n_a, n_steps = len(baseline), len(candidate), baseline.shape[1]
    correlation = _memory(baseline, candidate)
    ratio = _spread_ratio(baseline, candidate)
    n_curves = max(FEWEST_CURVES, math.ceil(10 / (1 - confidence)), n_numbers // (n_steps * (n_a + n_b)))
    simulated = _Simulated(n_b, n_a, n_steps, correlation, min(n_curves, 1_999), rng)
    share_of_steps = (1 + correlation**2) / (n_steps * max(1 - correlation**2, 1e-9))
    error = math.sqrt(min(1.0, share_of_steps) * (0.5 / (n_a - 1) + 0.5 / (n_b - 1)))
    ratios = [ratio * math.exp(RATIO_ERRORS * error * side) for side in (-1, 0, 1)]
    return max(simulated.quantile(ratio, confidence) for ratio in ratios)


class _Simulated:
    """Simulated curves without a difference between sides: means and squared standard errors, for any spread ratio."""

    def __init__(
        self, n_b: int, n_a: int, n_steps: int, correlation: float, n_curves: int, rng: np.random.Generator
    ) -> None:
        noise = rng.standard_normal((n_steps, n_curves, n_a + n_b), dtype=np.float32)
        fresh = math.sqrt(1 - correlation**2)
        for step in range(1, n_steps):
            noise[step] *= fresh
            noise[step] += np.float32(correlation) * noise[step - 1]
        self.candidate, self.candidate_se2 = _mean_and_se2(noise[..., :n_a])
        self.baseline, self.baseline_se2 = _mean_and_se2(noise[..., n_a:])

    def quantile(self, ratio: float, confidence: float) -> float:
        se2 = ratio**2 * self.candidate_se2 + self.baseline_se2
        highest = np.sort((np.abs(ratio * self.candidate - self.baseline) / np.sqrt(se2)).max(axis=0))
        n = len(highest)
        return float(highest[min(n, math.ceil((n + 1) * confidence)) - 1])


def _mean_and_se2(noise: Numbers) -> tuple[Numbers, Numbers]:
    n = noise.shape[-1]
    mean = noise.mean(axis=-1)
    squares = np.einsum("ijk,ijk->ij", noise, noise)
    return mean, (squares / n - mean**2) / (n - 1)


def _memory(baseline: Floats, candidate: Floats) -> float:
    """The autocorrelation after one step: the k-th root of the correlation k steps apart.

    The smallest over distances with a correlation of at least a half: over one step smooth curves lose almost nothing.
    """
    units = [_unit_distances(side) for side in (baseline, candidate)]
    smallest, lag = 0.9999, 1
    while lag < baseline.shape[1]:
        correlation = _correlation(units, lag)
        if lag == 1 or correlation >= HALF_LEFT:
            smallest = min(smallest, max(correlation, 0.0) ** (1 / lag))
        if correlation < HALF_LEFT:
            break
        lag *= 2
    return smallest


def _unit_distances(side: Floats) -> Floats:
    """Deviations from the mean at each step, scaled to length 1 over the runs; 0 where there is no spread."""
    distances = side - side.mean(axis=0)
    norms = np.sqrt((distances**2).sum(axis=0))
    unit: Floats = np.divide(distances, norms, out=np.zeros_like(distances), where=norms > 0)
    return unit


def _correlation(units: Sequence[Floats], lag: int) -> float:
    """Correlation over runs at this lag, sides weighted by degrees of freedom, mean over the steps."""
    total = weight = 0.0
    for unit in units:
        one, other = unit[:, lag:], unit[:, :-lag]
        has_spread = one.any(axis=0) & other.any(axis=0)
        total += (len(unit) - 1) * float((one * other).sum())
        weight += (len(unit) - 1) * int(has_spread.sum())
    return total / weight if weight else 0.0


def _spread_ratio(baseline: Floats, candidate: Floats) -> float:
    """SD of the candidate over that of the baseline, geometric mean over the steps."""
    tiny = np.finfo(float).tiny
    sds = [np.maximum(side.std(axis=0, ddof=1), tiny) for side in (baseline, candidate)]
    logs = np.clip(np.log(sds[1]) - np.log(sds[0]), -math.log(LARGEST_RATIO), math.log(LARGEST_RATIO))
    return math.exp(float(logs.mean()))
