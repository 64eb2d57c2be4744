"""Curves compared: a metric against main-loop steps, at the steps that every run of both sides reported."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy import stats

from deviate.model import CurveComparison, Estimate, Experiment, SelectedMetric, Unavailable
from deviate.model.minimum import VERDICT_RUNS
from deviate.stats.estimates.band import simultaneous_quantile
from deviate.stats.estimates.sample import LARGEST, count
from deviate.stats.estimates.steps import Floats, Integers, main_loop
from deviate.stats.tests.two_sample import welch, welch_interval

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
    Source: `band.py` for the band; the area is the trapezoid rule over the range of steps, so a mean over the curve.
    """
    sides = [_curves(baseline, metric.name), _curves(candidate, candidate_metric.name)]
    if not all(sides):
        return Unavailable("no completed run on one side reported it in the main loop")
    every = [curve for side in sides for curve in side]
    common, n_left_out = _common_steps(every)
    if len(common) < 2:
        return Unavailable("fewer than two steps that every run reported")
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
    return float(np.trapezoid(values, steps) / (steps[-1] - steps[0]))


def _half_widths(values: Floats, confidence: float) -> tuple[float, ...]:
    """Half-widths of the t interval of the mean per step, pointwise. Source: Student (1908)."""
    n = len(values)
    if n < 2:
        return ()
    scale = np.abs(values).max(axis=0) + 1 / LARGEST
    half = float(stats.t.ppf((1 + confidence) / 2, n - 1)) * scale * (values / scale).std(axis=0, ddof=1) / np.sqrt(n)
    return tuple(half.tolist())


def _band(
    b: Floats, a: Floats, difference: Floats, confidence: float, rng: np.random.Generator
) -> tuple[tuple[tuple[float, float], ...], str]:
    """Low and high end per step, empty with too few runs; and a description of the band, or why there is none."""
    if min(len(b), len(a)) < VERDICT_RUNS:
        return (), f"no band: needs {count(VERDICT_RUNS, 'run')} in each, has {len(b)} and {len(a)}"
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
    if not has_spread.any():
        return band, "none of the steps has spread: not judged"
    method = (
        f"simultaneous over {count(int(has_spread.sum()), 'step')}, Welch t with the correlation of neighbouring steps"
    )
    n_without = int((~has_spread).sum())
    return band, f"{method}; {count(n_without, 'step')} without spread not judged" if n_without else method


def _note(n_compared: int, n_common: int, b: Floats, a: Floats) -> str:
    notes = ["exploratory"]
    if n_compared < n_common:
        notes.append(f"compared at {n_compared} of {n_common} steps, equally spaced")
    if np.array_equal(b.min(axis=0), b.max(axis=0)) and np.array_equal(a.min(axis=0), a.max(axis=0)):
        notes.append("no spread observed")
    return "; ".join(notes)
