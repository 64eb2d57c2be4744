"""Reduces the number of points of long curves without losing peaks."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deviate.model import Series

Floats = NDArray[np.float64]

LARGEST = 1e150
"""Spans and squares of larger numbers overflow, in the band as in the axis."""


@dataclass(frozen=True, slots=True)
class Line:
    """A curve: x increases; NaN in y is a gap."""

    x: Floats
    y: Floats


def line_of(series: Series) -> Line:
    """A curve of the values in the main loop; values that are not finite or too large to draw become NaN."""
    if None in series.steps:
        pairs = [(step, value) for step, value in zip(series.steps, series.values, strict=True) if step is not None]
        x = np.array([step for step, _ in pairs], dtype=float)
        y = np.array([value for _, value in pairs], dtype=float)
    else:
        x, y = np.array(series.steps, dtype=float), np.array(series.values, dtype=float)
    return Line(x, np.where(np.abs(y) <= LARGEST, y, np.nan))


def thin(line: Line, n_points: int) -> Line:
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
    return Line(line.x[points], line.y[points])
