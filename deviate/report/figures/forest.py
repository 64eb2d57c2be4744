"""The forest plot of a noise study: the SD of each variant with its interval, and the runs behind it.

Source: Lewis & Clarke (2001) for the form; raw points below each line, for an SD of few runs hides what it is made of.
"""

import numpy as np
from matplotlib.axes import Axes

from deviate.report.figures.canvas import (
    GROUND,
    INK,
    add_axes,
    add_points,
    colour,
    few_ticks,
    figure_style,
    new_figure,
    svg_text,
    to_pixels,
)
from deviate.report.format import shorten
from deviate.report.view import ForestPlot, ForestRow

WIDTH, LEFT = 560, 150
ROW_HEIGHT = 40
FARTHEST = 4.0
"""The axis ends at so many times the largest SD: an interval from two runs would leave no room for all others."""
LABEL_LENGTH, REMARK_LENGTH = 22, 62


def draw_forest(plot: ForestPlot) -> str:
    """The plot as an `<svg>` element, one line per variant, from 0."""
    with figure_style(plot.key):
        figure = new_figure(WIDTH, ROW_HEIGHT * len(plot.rows) + 70)
        axes = add_axes(figure, left=LEFT, bottom=44, right=16, top=8)
        end = _end(plot)
        axes.set_xlim(0, 1.04 * end)
        axes.set_ylim(len(plot.rows) - 0.4, -0.6)
        axes.xaxis.set_major_locator(few_ticks(5))
        if plot.reference is not None:
            axes.axvline(plot.reference, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
        for index, row in enumerate(plot.rows):
            _draw_row(axes, index, row, end)
        axes.spines["left"].set_visible(False)
        names = [f"{shorten(row.label, LABEL_LENGTH)}\n{row.note}" for row in plot.rows]
        axes.set_yticks(range(len(plot.rows)), names)
        axes.tick_params(axis="y", length=0, pad=10)
        is_cut = any(row.high is not None and row.high > end for row in plot.rows)
        axes.set_xlabel(f"{shorten(plot.axis, 44)}{' (intervals with an arrow go on)' if is_cut else ''}")
        return svg_text(figure, plot.key, plot.title, plot.description)


def _end(plot: ForestPlot) -> float:
    largest = max(row.sd or 0.0 for row in plot.rows)
    highest = max(row.high or row.sd or 0.0 for row in plot.rows)
    farthest = max((distance for row in plot.rows for distance in row.distances), default=0.0)
    return max(farthest, min(highest, FARTHEST * largest))


def _draw_row(axes: Axes, index: int, row: ForestRow, end: float) -> None:
    if row.sd is not None and row.low is not None and row.high is not None:
        axes.plot([row.low, min(row.high, end)], [index, index], color=INK, linewidth=2, solid_capstyle="butt")
        if row.high > end:
            axes.plot([end], [index], marker=">", markersize=6, color=INK, markeredgewidth=0)
    if row.sd is not None:
        axes.plot([row.sd], [index], marker="o", markersize=8, color=INK, markeredgewidth=0, clip_on=False)
    if row.remark:
        ground = {"facecolor": GROUND, "edgecolor": "none", "pad": 1.0}
        axes.text(0.025 * end, index, shorten(row.remark, REMARK_LENGTH), ha="left", va="center", bbox=ground)
    if row.distances:
        height = np.full(len(row.distances), index + 0.28)
        add_points(axes, to_pixels(axes, np.array(row.distances, dtype=float), height), colour(index), 4.0)
