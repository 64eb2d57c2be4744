"""Runs on their way to a target, and the difference of curves with its simultaneous band.

Source: Kaplan & Meier (1958) for the steps with a tick at each censored run.
"""

import numpy as np

from deviate.report.figures.canvas import (
    INK,
    Floats,
    add_axes,
    add_band,
    add_lines,
    add_points,
    colour,
    few_ticks,
    figure_style,
    name_axis,
    new_figure,
    svg_text,
    to_pixels,
)
from deviate.report.format import shorten
from deviate.report.view.outcomes import DifferencePlot, SurvivalLine, SurvivalPlot

WIDTH, PLOT_HEIGHT, LEGEND_ROW = 440, 190, 18


def draw_survival(plot: SurvivalPlot) -> str:
    """The steps as an `<svg>` element; the sooner a line falls, the sooner runs got there."""
    bottom = 42 + LEGEND_ROW * len(plot.lines)
    with figure_style(plot.key):
        figure = new_figure(WIDTH, PLOT_HEIGHT + 24 + bottom)
        axes = add_axes(figure, left=52, bottom=bottom, right=14, top=24)
        axes.set_xlim(0, 1.02 * max(line.last for line in plot.lines) or 1)
        axes.set_ylim(-0.02, 1.04)
        axes.xaxis.set_major_locator(few_ticks(6))
        axes.yaxis.set_major_locator(few_ticks(6))
        for place, line in enumerate(plot.lines):
            add_lines(axes, [to_pixels(axes, *_stairs(line))], colour(line.index), width=2, alpha=1)
            if line.ended:
                shares = [_share_at(line, step) for step in line.ended]
                add_points(axes, to_pixels(axes, np.array(line.ended, dtype=float), np.array(shares)), INK, 4.0)
            y = -(46 + LEGEND_ROW * place) / PLOT_HEIGHT
            axes.plot([0, 0.05], [y, y], transform=axes.transAxes, color=colour(line.index), linewidth=3, clip_on=False)
            label = f"{shorten(line.label, 30)} ({line.note})"
            axes.text(0.065, y, label, transform=axes.transAxes, ha="left", va="center")
        axes.text(0, 1.04, "share of runs not there yet", transform=axes.transAxes, ha="left", va="bottom")
        axes.text(1, -0.11, "main-loop steps done", transform=axes.transAxes, ha="right", va="top")
        return svg_text(figure, plot.key, plot.title, plot.description)


def draw_difference(plot: DifferencePlot) -> str:
    """The difference and its band as an `<svg>` element, with a line at 0 and at the first difference."""
    x, y = np.array(plot.steps, dtype=float), np.array(plot.difference)
    low, high = np.array(plot.band, dtype=float).T
    is_known = np.isfinite(low) & np.isfinite(high)
    with figure_style(plot.key):
        figure = new_figure(WIDTH, PLOT_HEIGHT + 66)
        axes = add_axes(figure, left=58, bottom=42, right=14, top=24)
        bottom, top = min(0.0, float(low[is_known].min())), max(0.0, float(high[is_known].max()))
        margin = 0.05 * ((top - bottom) or 1.0)
        axes.set_xlim(x[0], x[-1])
        axes.set_ylim(bottom - margin, top + margin)
        axes.xaxis.set_major_locator(few_ticks(6))
        axes.yaxis.set_major_locator(few_ticks(6))
        ends = [to_pixels(axes, x, np.where(is_known, side, np.nan)) for side in (low, high)]
        add_band(axes, ends[0][:, 0], ends[0][:, 1], ends[1][:, 1], colour(plot.index))
        add_lines(axes, [to_pixels(axes, x, np.clip(y, bottom, top))], colour(plot.index), width=2, alpha=1)
        axes.axhline(0, color=INK, linewidth=0.8)
        if plot.first is not None:
            axes.axvline(plot.first, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
        name_axis(axes, plot.axis, 56, at=1.04)
        axes.text(1, -0.11, "main-loop step", transform=axes.transAxes, ha="right", va="top")
        return svg_text(figure, plot.key, plot.title, plot.description)


def _stairs(line: SurvivalLine) -> tuple[Floats, Floats]:
    """The share stays until the next point, where it falls straight down; it ends with the last run."""
    steps = np.array([step for step, _ in line.points] + [line.last], dtype=float)
    shares = np.array([share for _, share in line.points])
    return np.repeat(steps, 2)[1:-1], np.repeat(shares, 2)


def _share_at(line: SurvivalLine, step: int) -> float:
    return [share for at, share in line.points if at <= step][-1]
