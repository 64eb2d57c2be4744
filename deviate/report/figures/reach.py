"""Axis ranges: they include every raw point, and ends of intervals within reason."""

from collections.abc import Sequence

FARTHEST = 1.5
"""Ends of intervals widen an axis by so many times the range of the points, on each side: the interval of two runs
would else leave no room for the runs themselves."""


def axis_limits(values: Sequence[float], ends: Sequence[float]) -> tuple[float, float]:
    """Limits that include all values, and interval ends up to `FARTHEST`."""
    low, high = min(values), max(values)
    span = high - low
    if span <= 1e-12 * max(abs(low), abs(high)):
        return pad_limits(min((low, *ends)), max((high, *ends)))
    lowest, highest = low - FARTHEST * span, high + FARTHEST * span
    return pad_limits(max(lowest, min((low, *ends))), min(highest, max((high, *ends))))


def pad_limits(low: float, high: float) -> tuple[float, float]:
    """Limits with a margin; equal values get a window scaled to their size."""
    span = high - low
    if span <= 1e-12 * max(abs(low), abs(high)):
        span = abs(high) or 1.0
    return low - 0.07 * span, high + 0.07 * span


def clip_interval(window: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """The visible part of an interval; where it exceeds the window, it ends slightly inside the edge."""
    first, last = min(window), max(window)
    air = 0.025 * (last - first)
    return (low if low >= first else first + air), (high if high <= last else last - air)


def cut_note(*, is_cut: bool) -> str:
    """The note in an axis name where intervals exceed the axis."""
    return "; arrow: goes on" if is_cut else ""
