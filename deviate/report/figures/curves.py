"""Curves of every run: thin lines, with the mean and its pointwise band per experiment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from deviate.report.figures.bundle import Bundle, CurveLine, bundle_of, numbered
from deviate.report.figures.panel import Floats, LegendEntry, Panel, few_ticks, join_lines, new_panel, room_beside
from deviate.report.figures.surface import Surface
from deviate.report.plots import CurvePlot

HEIGHT, LEFT, RIGHT = 190, 62, 14
BAND_POINTS = 100
SHAPES_ON_MEAN = 5
LOGARITHMIC_FROM = 200.0
"""Ratio of highest to lowest value above which a linear axis would hide most of a curve."""


@dataclass(frozen=True, slots=True)
class _Group:
    """Curves of one experiment: runs that count, and runs that ended in other ways."""

    index: int
    label: str
    counted: Bundle
    failed: Bundle


def draw_curves(plot: CurvePlot, surface: Surface, n_points: int) -> Figure:
    """The figure; each curve is thinned to about `n_points` points."""
    groups = [
        _Group(
            group.index,
            group.label,
            *(
                numbered(bundle_of(curves, plot.confidence, n_points, BAND_POINTS, plot.n_lines), plot.counter)
                for curves in (group.counted, group.failed)
            ),
        )
        for group in plot.groups
    ]
    entries = [LegendEntry(group.index, group.label, _note(group)) for group in groups]
    beside = room_beside(surface, entries, HEIGHT)
    panel = new_panel(surface, HEIGHT, () if beside else entries, left=LEFT, right=beside or RIGHT)
    suffix = _set_limits(panel, groups)
    for group in groups:
        _draw_runs(panel, group)
    # A rim in the colour of the ground, below all means, keeps them visible among a hundred lines.
    for group in groups:
        _draw_mean(panel, group, width=4.0, colour=surface.ground)
    for place, group in enumerate(groups):
        _draw_mean(panel, group, width=2.0)
        _draw_shapes(panel, group, place / len(groups))
    if beside:
        panel.name_ends(entries, [_last_value(panel, group) for group in groups])
    return panel.finish(plot.axis, plot.counter.name, tail=suffix)


def _note(group: _Group) -> str:
    n, fewest = group.counted.n_curves, group.counted.fewest
    parts = [f"n = {n}" if fewest == n else f"n = {fewest}–{n} by step"]
    parts += [f"{group.failed.n_curves} failed: dashed"] if group.failed.lines else []
    return ", ".join(parts)


def _last_value(panel: Panel, group: _Group) -> float:
    """Where the mean ends, or else a run; the middle of the panel if no value can be drawn."""
    means = [side.band.mean for side in (group.counted, group.failed) if side.band is not None]
    ends = [mean[~np.isnan(mean)][-1:] for mean in means]
    low, high = panel.axes.get_ylim()
    last = next((float(end[0]) for end in ends if len(end)), (low + high) / 2)
    return min(max(last, low), high)


def _draw_runs(panel: Panel, group: _Group) -> None:
    """Draw thin lines, fainter if there are many, so that one experiment does not hide another."""
    alpha = min(0.45, max(0.15, 5 / max(1, len(group.counted.lines))))
    counted, failed = (
        join_lines((line.x, _drawable(panel, line.y)) for line in side.lines) for side in (group.counted, group.failed)
    )
    panel.line(*counted, group.index, width=0.7, alpha=alpha)
    panel.line(*failed, group.index, width=0.9, alpha=0.8, is_dashed=True)


def _draw_mean(panel: Panel, group: _Group, *, width: float, colour: str = "") -> None:
    band = group.counted.band
    if band is None or len(group.counted.lines) < 2:
        return
    mean, low, high = (_drawable(panel, side) for side in (band.mean, band.low, band.high))
    panel.band(band.x, low, high, group.index, fill=colour)
    panel.line(band.x, mean, group.index, width=width, stroke=colour)


def _draw_shapes(panel: Panel, group: _Group, phase: float) -> None:
    """Draw the marker of the experiment at some steps of its mean or only run, in addition to its colour.

    `phase` in [0, 1) moves them, so that those of several experiments do not cover each other.
    """
    band = group.counted.band
    if band is None:
        return
    x, y = band.x, band.mean
    wanted = x[0] + (np.arange(SHAPES_ON_MEAN) + 0.25 + 0.5 * phase) / SHAPES_ON_MEAN * (x[-1] - x[0])
    places = np.unique(np.searchsorted(x, wanted).clip(0, len(x) - 1))
    panel.points(x[places], _drawable(panel, y[places]), group.index, diameter=7)


def _drawable(panel: Panel, y: Floats) -> Floats:
    """Values clipped to the vicinity of the window, so that coordinates do not overflow."""
    low, high = panel.axes.get_ylim()
    if panel.axes.get_yscale() == "log":
        return np.clip(y, low / 10, high * 10)
    return np.clip(y, low - (high - low), high + (high - low))


def _set_limits(panel: Panel, groups: Sequence[_Group]) -> str:
    """Set axis limits from runs that count, as a diverged run would flatten the rest; returns a note on it."""
    axes = panel.axes
    counted = _range(line for group in groups for line in group.counted.lines)
    beyond = _range(line for group in groups for line in group.failed.lines)
    if counted is None:
        counted, beyond = beyond, None
    lines = [line for group in groups for line in (*group.counted.lines, *group.failed.lines) if len(line.x)]
    first, last = min(line.x[0] for line in lines), max(line.x[-1] for line in lines)
    axes.set_xlim(first, max(last, first + 1))
    panel.ticks_x(6, is_whole=True)
    low, high = counted or (0.0, 1.0)
    is_cut = beyond is not None and (beyond[0] < low or beyond[1] > high)
    notes = ["cut to the runs that count"] if is_cut else []
    if low > 0 and high / low > LOGARITHMIC_FROM:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.2, high * 1.2)
        axes.yaxis.set_major_locator(LogLocator(numticks=6))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        notes.append("logarithmic")
    else:
        span = (high - low) or abs(high) or 1.0
        axes.set_ylim(low - 0.05 * span, high + 0.05 * span)
        axes.yaxis.set_major_locator(few_ticks(6))
    bottom, top = axes.get_ylim()
    bands = [group.counted.band for group in groups if group.counted.band and len(group.counted.lines) > 1]
    if any((band.low < bottom).any() or (band.high > top).any() for band in bands):
        notes.append("bands go on")
    return f" ({', '.join(notes)})" if notes else ""


def _range(lines: Iterable[CurveLine]) -> tuple[float, float] | None:
    """The minimum and maximum; None if there are no values."""
    numbers = [line.y[~np.isnan(line.y)] for line in lines]
    ends = [(float(y.min()), float(y.max())) for y in numbers if y.size]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None
