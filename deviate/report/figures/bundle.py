"""The runs of one experiment as thin lines, and their mean with its band, computed one run at a time.

Long curves lose points, but no peaks. Ten curves of a million steps take 160 MB as arrays, and several times as much
while their mean is computed: only the hundred steps at which the band is drawn are collected.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deviate.model.analysis import LoopCounter
from deviate.model.records import Series

Floats = NDArray[np.float64]

MOST_LINES = 5_000
"""Lines of one group where a plot names no smaller number."""
LARGEST = 1e150
"""Spans and squares of larger numbers overflow, in the band as in the axis."""


@dataclass(frozen=True, slots=True)
class CurveLine:
    """A curve: x increases; NaN in y is a gap."""

    x: Floats
    y: Floats


def line_of(series: Series) -> CurveLine:
    """A curve of the values in the main loop; values that are not finite or too large to draw become NaN."""
    if None in series.steps:
        pairs = [(step, value) for step, value in zip(series.steps, series.values, strict=True) if step is not None]
        x = np.array([step for step, _ in pairs], dtype=float)
        y = np.array([value for _, value in pairs], dtype=float)
    else:
        x, y = np.array(series.steps, dtype=float), np.array(series.values, dtype=float)
    return CurveLine(_spread_within_steps(x), np.where(np.abs(y) <= LARGEST, y, np.nan))


def _spread_within_steps(steps: Floats) -> Floats:
    """Where values lie on the axis: value j (from 0) of k within step s at s + j/k, a single one at s."""
    begins = _beginnings(steps)
    if len(begins) == len(steps):
        return steps
    counts = np.diff(begins, append=len(steps))
    x: Floats = steps + (np.arange(len(steps)) - np.repeat(begins, counts)) / np.repeat(counts, counts)
    return x


def _beginnings(steps: Floats) -> NDArray[np.int64]:
    """Index of the first value of each step."""
    return np.flatnonzero(np.diff(steps, prepend=steps[:1] - 1))


def step_means(line: CurveLine) -> CurveLine:
    """The curve with one value per step, the mean of those within it that are no gaps."""
    steps = np.floor(line.x)
    begins = _beginnings(steps)
    if len(begins) == len(steps):
        return line
    is_there = ~np.isnan(line.y)
    with np.errstate(invalid="ignore"):
        y = np.add.reduceat(np.where(is_there, line.y, 0), begins) / np.add.reduceat(is_there.astype(float), begins)
    return CurveLine(steps[begins], y)


def thin(line: CurveLine, n_points: int) -> CurveLine:
    """Reduce the curve to about `n_points` points: first and last, and the minimum and maximum of each interval.

    Unlike a mean or every k-th point this keeps each peak; a gap (NaN) stays a gap.
    """
    n = len(line.x)
    if n <= n_points:
        return line
    n_stretches = max(1, (n_points - 2) // 2)
    length = math.ceil(n / n_stretches)
    index = np.minimum(np.arange(length * math.ceil(n / length)), n - 1).reshape(-1, length)
    y = line.y[index]
    is_gap = np.isnan(y)
    rows = np.arange(len(index))
    lowest = index[rows, np.where(is_gap, np.inf, y).argmin(axis=1)]
    highest = index[rows, np.where(is_gap, -np.inf, y).argmax(axis=1)]
    gaps = index[rows, is_gap.argmax(axis=1)][is_gap.any(axis=1)]
    points = np.unique(np.concatenate([[0, n - 1], lowest, highest, gaps]))
    return CurveLine(line.x[points], line.y[points])


@dataclass(frozen=True, slots=True)
class Band:
    """Mean of the curves at shared steps, its pointwise t interval (NaN where n < 2), and n."""

    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Thinned lines, and the band of all curves.

    Attributes:
        lines: of some of the curves where there are very many.
        band: None without curves.
        fewest: the smallest number of curves with a value at any step.
    """

    lines: tuple[CurveLine, ...]
    band: Band | None
    fewest: int
    n_curves: int


def numbered(bundle: Bundle, counter: LoopCounter) -> Bundle:
    """The same curves over the numbers that the script gives to the steps."""
    lines = tuple(replace(line, x=number_steps(line.x, counter)) for line in bundle.lines)
    band = bundle.band and replace(bundle.band, x=number_steps(bundle.band.x, counter))
    return replace(bundle, lines=lines, band=band)


def number_steps(steps: Floats, counter: LoopCounter) -> Floats:
    """Numbers that the script gives to main-loop steps, which count from 0."""
    numbers: Floats = counter.first + counter.stride * steps
    return numbers


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Values at the selected steps, a row per curve, and the number of curves with a value at each of all steps."""

    steps: Floats
    rows: list[Floats]
    n: NDArray[np.int64]


def bundle_of(
    curves: Sequence[Series], confidence: float, n_points: int, n_steps: int, n_lines: int = MOST_LINES
) -> Bundle:
    """Curves of at most about `n_points` points each, with the band at no more than `n_steps` steps.

    Of more than `n_lines` curves as many are lines, evenly spaced; the band is that of all. Every k-th step is taken: a
    band is smooth enough, and its three lines must keep the same steps. Runs of other lengths count where they are,
    with the mean of the values within each step.
    """
    lines: list[CurveLine] = []
    first: Floats | None = None
    gathered: _Gathered | None = None
    drawn = set(_every(len(curves), n_lines).tolist())
    for place, series in enumerate(curves):
        line = line_of(series)
        if place in drawn:
            lines.append(thin(line, n_points))
        if first is None:
            first = line.x
            gathered = _Gathered(line.x[_every(len(line.x), n_steps)], [], np.zeros(len(line.x), dtype=np.int64))
        if gathered is not None and np.array_equal(line.x, first):
            gathered.rows.append(line.y[_every(len(line.x), n_steps)])
            gathered.n[:] += ~np.isnan(line.y)
        else:
            gathered = None
    if first is None:
        return Bundle((), None, 0, 0)
    gathered = gathered or _over_all_steps(curves, n_steps)
    return Bundle(tuple(lines), _band(gathered, confidence), int(gathered.n.min(initial=len(curves))), len(curves))


def _every(n: int, n_most: int) -> NDArray[np.int64]:
    """Indices of the first, the last, and some evenly spaced items."""
    if n <= n_most:
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, n_most).round().astype(np.int64))


def _over_all_steps(curves: Sequence[Series], n_steps: int) -> _Gathered:
    """Values at the union of all steps, one each, for curves that do not share the places of their values."""
    union = np.empty(0)
    for series in curves:
        union = np.union1d(union, step_means(line_of(series)).x)
    steps, n = union[_every(len(union), n_steps)], np.zeros(len(union), dtype=np.int64)
    rows = []
    for series in curves:
        line = step_means(line_of(series))
        n[np.searchsorted(union, line.x[~np.isnan(line.y)])] += 1
        row = np.full(len(steps), np.nan)
        if len(line.x):
            at = np.searchsorted(line.x, steps).clip(max=len(line.x) - 1)
            is_there = line.x[at] == steps
            row[is_there] = line.y[at[is_there]]
        rows.append(row)
    return _Gathered(steps, rows, n)


def _band(gathered: _Gathered, confidence: float) -> Band:
    """Mean and Student t interval at each step.

    Source: Student (1908); pointwise, so not a statement about whole curves.
    """
    table = np.stack(gathered.rows)
    is_there = ~np.isnan(table)
    n = is_there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(is_there, table, 0).sum(axis=0) / n
        deviation = np.where(is_there, table - mean, 0)
        sd = np.sqrt((deviation**2).sum(axis=0) / (n - 1))
        half = special.stdtrit(np.maximum(n - 1, 1), 0.5 + confidence / 2) * sd / np.sqrt(n)
    half = np.where(n >= 2, half, np.nan)
    return Band(gathered.steps, np.where(n >= 1, mean, np.nan), mean - half, mean + half, n)
