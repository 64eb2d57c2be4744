"""Detectable difference against the number of runs: a dot for each number computed, a band for the SD's interval."""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import Panel, few_ticks, new_panel
from deviate.report.figures.surface import Surface
from deviate.report.plots import PlanningPlot

PLANNING_HEIGHT, PLANNING_LEFT, PLANNING_RIGHT = 180, 62, 14
HIGHEST_BAND = 2.5
"""The axis ends at so many times the largest detectable difference: the band of two runs would leave no room."""


def draw_planning(plot: PlanningPlot, surface: Surface) -> Figure:
    """Draw the figure: n on a logarithmic axis, differences from 0, both limited to the relevant range."""
    panel = new_panel(surface, PLANNING_HEIGHT, (), left=PLANNING_LEFT, right=PLANNING_RIGHT)
    n, sizes = np.array(plot.points, dtype=float).T
    panel.axes.set_xscale("log")
    panel.axes.set_xlim(min(n[0], plot.now[0]) / 1.1, n[-1] * 1.1)
    panel.axes.set_ylim(0, _highest_drawn(plot))
    panel.ticks_at({float(value): f"{value:.0f}" for value in n})
    panel.axes.yaxis.set_major_locator(few_ticks(6))
    if plot.band:
        x, low, high = np.array(plot.band, dtype=float).T
        panel.band(x, np.minimum(low, _highest_drawn(plot)), np.minimum(high, _highest_drawn(plot)), plot.index)
    panel.line(n, sizes, plot.index, width=2.0)
    panel.points(n, sizes, plot.index, diameter=5.0)
    if plot.margin is not None and plot.margin <= _highest_drawn(plot):
        panel.rule(y=plot.margin)
        above = panel.height * plot.margin / _highest_drawn(plot) + 3
        panel.text(panel.width, above, surface.fit(plot.margin_label, panel.width / 2), ha="right", va="bottom")
    _mark_now(panel, plot)
    panel.name_y(plot.axis)
    panel.name_x(plot.n_axis)
    return panel.figure


def _highest_drawn(plot: PlanningPlot) -> float:
    largest = max(*(size for _, size in plot.points), plot.now[1], *([plot.margin] if plot.margin else []))
    highest = max((high for _, _, high in plot.band), default=largest)
    drawn = max(size for _, size in plot.points)
    largest = min(largest, HIGHEST_BAND * drawn)
    return 1.05 * max(largest, min(highest, HIGHEST_BAND * drawn))


def _mark_now(panel: Panel, plot: PlanningPlot) -> None:
    """Draw a line from the recorded runs down to the axis, labelled with their number."""
    n, size = plot.now
    panel.line([n, n], [0, size], plot.index, width=1.2, stroke=panel.surface.ink)
    panel.mark(n, size, plot.index)
    x, y = panel.to_units(n, size)
    label = panel.surface.fit(plot.now_label, panel.width)
    is_left = x + 6 + panel.surface.text_width(label) <= panel.width
    panel.text(x + (6 if is_left else -6), y + 10, label, ha="left" if is_left else "right", va="bottom")
