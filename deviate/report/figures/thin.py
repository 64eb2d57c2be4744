"""Long curves made short without losing their peaks, and the mean of curves with its band."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deviate.model import Series

Floats = NDArray[np.float64]

LARGEST = 1e150
"""Spans and squares of larger numbers overflow, in the band as in the axis."""


@dataclass(frozen=True, slots=True)
class Line:
    """A curve: x rises; y may hold NaN, where the line breaks."""

    x: Floats
    y: Floats


@dataclass(frozen=True, slots=True)
class Band:
    """Mean of the curves at each step, its pointwise t interval (NaN where n < 2), and n."""

    x: Floats
    mean: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]


def line_of(series: Series) -> Line:
    """The values inside the main loop; what is not finite, or too large to be drawn, becomes NaN."""
    if None in series.steps:
        pairs = [(step, value) for step, value in zip(series.steps, series.values, strict=True) if step is not None]
        x = np.array([step for step, _ in pairs], dtype=float)
        y = np.array([value for _, value in pairs], dtype=float)
    else:
        x, y = np.array(series.steps, dtype=float), np.array(series.values, dtype=float)
    return Line(x, np.where(np.abs(y) <= LARGEST, y, np.nan))


def thin(line: Line, n_points: int) -> Line:
    """At most about `n_points` points: first, last, and of each stretch the lowest and the highest, in order.

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
    kept = np.unique(np.concatenate([[0, n - 1], lowest, highest, gaps]))
    return Line(line.x[kept], line.y[kept])


def thin_band(band: Band, n_points: int) -> Band:
    """Every k-th step: a band is smooth enough, and its three lines must keep the same steps."""
    if len(band.x) <= n_points:
        return band
    kept = np.unique(np.linspace(0, len(band.x) - 1, n_points).round().astype(int))
    return Band(band.x[kept], band.mean[kept], band.low[kept], band.high[kept], band.n[kept])


def band_of(lines: Sequence[Line], confidence: float) -> Band | None:
    """Mean and Student t interval at each step that any run has; runs of other lengths count where they are.

    Source: Student (1908); pointwise, so not a statement about whole curves.
    """
    if not lines:
        return None
    x, table = _aligned(lines)
    is_there = ~np.isnan(table)
    n = is_there.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(is_there, table, 0).sum(axis=0) / n
        deviation = np.where(is_there, table - mean, 0)
        sd = np.sqrt((deviation**2).sum(axis=0) / (n - 1))
        half = stats.t.ppf(0.5 + confidence / 2, np.maximum(n - 1, 1)) * sd / np.sqrt(n)
    half = np.where(n >= 2, half, np.nan)
    return Band(x, np.where(n >= 1, mean, np.nan), mean - half, mean + half, n)


def _aligned(lines: Sequence[Line]) -> tuple[Floats, Floats]:
    """Steps of all lines, and a row per line with NaN where it has no value."""
    first = lines[0].x
    if all(np.array_equal(line.x, first) for line in lines):
        return first, np.stack([line.y for line in lines])
    x = np.unique(np.concatenate([line.x for line in lines]))
    table = np.full((len(lines), len(x)), np.nan)
    for row, line in zip(table, lines, strict=True):
        row[np.searchsorted(x, line.x)] = line.y
    return x, table
