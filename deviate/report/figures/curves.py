"""Curves of every run: thin lines, with the mean and its pointwise band per experiment."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from deviate.report.figures.canvas import (
    GROUND,
    Floats,
    add_axes,
    add_band,
    add_lines,
    colour,
    few_ticks,
    figure_style,
    name_axis,
    new_figure,
    svg_text,
    to_pixels,
)
from deviate.report.figures.thin import Band, Line, band_of, line_of, thin, thin_band
from deviate.report.format import shorten
from deviate.report.view import CurvePlot

WIDTH, HEIGHT = 440, 270
BAND_POINTS = 100
LOGARITHMIC_FROM = 200.0
"""Ratio of highest to lowest value above which a linear axis would hide most of a curve."""


@dataclass(frozen=True, slots=True)
class _Group:
    colour: str
    label: str
    counted: list[Line]
    failed: list[Line]
    band: Band | None


def draw_curves(plot: CurvePlot, n_points: int) -> str:
    """The curves as an `<svg>` element; each is thinned to about `n_points` points."""
    groups = [
        _group(index, group.label, [*map(line_of, group.counted)], [*map(line_of, group.failed)], plot.confidence)
        for index, group in enumerate(plot.groups)
    ]
    with figure_style(plot.key):
        figure = new_figure(WIDTH, HEIGHT)
        axes = add_axes(figure, left=58, bottom=56, right=12, top=24)
        suffix = _set_limits(axes, groups)
        for group in groups:
            _draw_runs(axes, group, n_points)
        # A rim in the colour of the ground, below all means, keeps them visible among a hundred lines.
        for group in groups:
            _draw_mean(axes, group, GROUND, width=4.0)
        for group in groups:
            _draw_mean(axes, group, group.colour, width=2.0)
        name_axis(axes, f"{shorten(plot.axis, 40)}{suffix}", 80)
        axes.text(1, -0.11, "main-loop step", transform=axes.transAxes, ha="right", va="top")
        for index, group in enumerate(groups):
            _name_group(axes, group, index, len(groups))
        return svg_text(figure, plot.key, plot.title, plot.description)


def _group(index: int, label: str, counted: list[Line], failed: list[Line], confidence: float) -> _Group:
    return _Group(colour(index), label, counted, failed, band_of(counted, confidence))


def _draw_runs(axes: Axes, group: _Group, n_points: int) -> None:
    """Thin lines, fainter when they are many: one experiment must not cover another."""
    alpha = min(0.45, max(0.15, 5 / max(1, len(group.counted))))
    add_lines(axes, _pixels(axes, group.counted, n_points), group.colour, width=0.7, alpha=alpha)
    add_lines(axes, _pixels(axes, group.failed, n_points), group.colour, width=0.9, alpha=0.8, is_dashed=True)


def _draw_mean(axes: Axes, group: _Group, stroke: str, *, width: float) -> None:
    if group.band is None or len(group.counted) < 2:
        return
    band = thin_band(group.band, BAND_POINTS)
    middle, low, high = (to_pixels(axes, band.x, _drawable(axes, side)) for side in (band.mean, band.low, band.high))
    add_band(axes, middle[:, 0], low[:, 1], high[:, 1], stroke)
    add_lines(axes, [middle], stroke, width=width, alpha=1.0)


def _pixels(axes: Axes, lines: Sequence[Line], n_points: int) -> list[Floats]:
    return [to_pixels(axes, line.x, _drawable(axes, line.y)) for line in (thin(it, n_points) for it in lines)]


def _drawable(axes: Axes, y: Floats) -> Floats:
    """Values kept near the window: a line may leave it, but not by so much that the text of the figure overflows."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        return np.clip(y, low / 10, high * 10)
    return np.clip(y, low - (high - low), high + (high - low))


def _set_limits(axes: Axes, groups: Sequence[_Group]) -> str:
    """Limits from the runs that count, lest one that diverged flattens the rest; returns what the reader must know."""
    lines = [line for group in groups for line in group.counted]
    failed = [line for group in groups for line in group.failed]
    shown = _values(lines)
    if not shown.size:
        shown, failed = _values(failed), []
    steps = np.concatenate([line.x for group in groups for line in (*group.counted, *group.failed)])
    axes.set_xlim(steps.min(), max(steps.max(), steps.min() + 1))
    axes.xaxis.set_major_locator(few_ticks(6))
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    beyond = _values(failed)
    is_cut = bool(beyond.size) and (float(beyond.min()) < low or float(beyond.max()) > high)
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
    return f" ({', '.join(notes)})" if notes else ""


def _values(lines: Sequence[Line]) -> Floats:
    values: Floats = np.concatenate([line.y for line in lines]) if lines else np.empty(0)
    return values[~np.isnan(values)]


def _name_group(axes: Axes, group: _Group, index: int, n_groups: int) -> None:
    """Name and n below the axis, in the colour of the curves with a stroke before it."""
    n = len(group.counted)
    fewest = int(group.band.n.min()) if group.band is not None else n
    parts = [f"n = {n}" if fewest == n else f"n = {fewest}–{n} by step"]
    parts += [f"{len(group.failed)} failed, dashed"] if group.failed else []
    x = index / n_groups
    axes.plot([x, x + 0.04], [-0.235, -0.235], transform=axes.transAxes, color=group.colour, linewidth=3, clip_on=False)
    label = f"{shorten(group.label, max(8, 44 // n_groups))} ({', '.join(parts)})"
    axes.text(x + 0.055, -0.235, label, transform=axes.transAxes, ha="left", va="center")
