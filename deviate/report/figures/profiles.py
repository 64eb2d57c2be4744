"""Performance profiles: the share of scores above each threshold, per experiment, with its band.

Source: Agarwal et al. (2021), section 4.2.
"""

import numpy as np
from matplotlib.axes import Axes

from deviate.report.figures.canvas import (
    PALETTE,
    add_axes,
    add_band,
    add_lines,
    colour,
    few_ticks,
    figure_style,
    new_figure,
    svg_text,
    to_pixels,
)
from deviate.report.format import shorten
from deviate.report.view import ProfileLine, ProfilePlot

WIDTH, PLOT_HEIGHT, LEFT, RIGHT = 440, 200, 52, 14
LEGEND_ROW = 18
LABEL_LENGTH = 20


def draw_profiles(plot: ProfilePlot) -> str:
    """The profiles as an `<svg>` element; the higher a line lies, the better."""
    n_rows = (len(plot.lines) + 1) // 2
    height = PLOT_HEIGHT + 24 + 42 + LEGEND_ROW * n_rows
    with figure_style(plot.key):
        figure = new_figure(WIDTH, height)
        axes = add_axes(figure, left=LEFT, bottom=42 + LEGEND_ROW * n_rows, right=RIGHT, top=24)
        axes.set_xlim(plot.thresholds[0], plot.thresholds[-1])
        axes.set_ylim(-0.02, 1.02)
        axes.xaxis.set_major_locator(few_ticks(6))
        axes.yaxis.set_major_locator(few_ticks(6))
        for line in plot.lines:
            _draw_band(axes, plot, line)
        for line in plot.lines:
            x, y = np.array(plot.thresholds), np.array(line.shares)
            add_lines(axes, [to_pixels(axes, x, y)], colour(line.index), width=2, alpha=1, is_dashed=_is_dashed(line))
        axes.text(0, 1.04, "share of scores above the threshold", transform=axes.transAxes, ha="left", va="bottom")
        axes.text(1, -0.11, f"threshold: {plot.axis}", transform=axes.transAxes, ha="right", va="top")
        for place, line in enumerate(plot.lines):
            _name_line(axes, place, line)
        return svg_text(figure, plot.key, plot.title, plot.description)


def _draw_band(axes: Axes, plot: ProfilePlot, line: ProfileLine) -> None:
    if not line.band:
        return
    x = np.array(plot.thresholds)
    low, high = (to_pixels(axes, x, np.array(side)) for side in zip(*line.band, strict=True))
    add_band(axes, low[:, 0], low[:, 1], high[:, 1], colour(line.index))


def _is_dashed(line: ProfileLine) -> bool:
    """Colours come again after the last of them, dashed."""
    return (line.index // len(PALETTE)) % 2 == 1


def _name_line(axes: Axes, place: int, line: ProfileLine) -> None:
    """Names and n below the axis, two in a row, in the colour of the line with a stroke before each."""
    x = 0.5 * (place % 2) - 0.08
    y = -(46 + LEGEND_ROW * (place // 2)) / PLOT_HEIGHT
    axes.plot(
        [x, x + 0.05],
        [y, y],
        transform=axes.transAxes,
        color=colour(line.index),
        linewidth=3,
        linestyle=(0, (2, 1)) if _is_dashed(line) else "solid",
        clip_on=False,
    )
    label = f"{shorten(line.label, LABEL_LENGTH)} ({line.note})"
    axes.text(x + 0.065, y, label, transform=axes.transAxes, ha="left", va="center")
