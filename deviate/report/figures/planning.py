"""Detectable difference against the number of runs: a dot for each number computed, a band for the SD's interval."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from deviate.report.figures.panel import Panel, add_panel, few_ticks, new_figure
from deviate.report.figures.surface import Surface
from deviate.report.plots import PlanningPlot

PANEL_HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 180, 62, 14, 28, 42
HIGHEST = 2.5
"""The axis ends at so many times the largest detectable difference: the band of two runs would leave no room."""


def planning(plot: PlanningPlot, surface: Surface) -> Figure:
    """The figure: both axes begin at what matters, n on a logarithmic one, differences from 0."""
    figure = new_figure(surface, PANEL_HEIGHT + TOP + BOTTOM)
    panel = add_panel(figure, surface, left=LEFT, bottom=BOTTOM, right=RIGHT, top=TOP)
    n, sizes = (np.array(it, dtype=float) for it in zip(*plot.points, strict=True))
    panel.axes.set_xscale("log")
    panel.axes.set_xlim(min(n[0], plot.now[0]) / 1.1, n[-1] * 1.1)
    panel.axes.set_ylim(0, _top(plot))
    _ticks(panel, n)
    panel.axes.yaxis.set_major_locator(few_ticks(6))
    if plot.band:
        at, low, high = (np.array(it, dtype=float) for it in zip(*plot.band, strict=True))
        ends = [panel.to_pixels(at, np.minimum(side, _top(plot))) for side in (low, high)]
        panel.band(ends[0][:, 0], ends[0][:, 1], ends[1][:, 1], plot.index)
    pixels = panel.to_pixels(n, sizes)
    panel.lines([pixels], plot.index, width=2.0)
    panel.points(pixels, plot.index, diameter=5.0, alpha=1.0)
    if plot.margin is not None and plot.margin <= _top(plot):
        panel.rule(y=plot.margin)
        above = panel.height * plot.margin / _top(plot) + 3
        panel.text(panel.width, above, surface.fit(plot.margin_label, panel.width / 2), ha="right", va="bottom")
    _mark_now(panel, plot)
    panel.name_y(plot.axis)
    panel.name_x(plot.n_axis)
    return figure


def _top(plot: PlanningPlot) -> float:
    largest = max(*(size for _, size in plot.points), plot.now[1], *([plot.margin] if plot.margin else []))
    highest = max((high for _, _, high in plot.band), default=largest)
    drawn = max(size for _, size in plot.points)
    largest = min(largest, HIGHEST * drawn)
    return 1.05 * max(largest, min(highest, HIGHEST * drawn))


def _ticks(panel: Panel, n: np.ndarray) -> None:
    """Numbers of runs that were computed, as many as have room from the left on."""
    axis, shown, end = panel.axes.xaxis, [], -np.inf
    for value in n:
        at = panel.width * float(
            panel.axes.transAxes.inverted().transform(panel.to_pixels(np.array([value]), np.zeros(1)))[0, 0]
        )
        half = panel.surface.text_width(f"{value:.0f}") / 2
        if at - half >= end + 6:
            shown.append(value)
            end = at + half
    axis.set_major_locator(FixedLocator(shown))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(StrMethodFormatter("{x:.0f}"))


def _mark_now(panel: Panel, plot: PlanningPlot) -> None:
    """A line down from the runs on record to the axis, with their number."""
    n, size = plot.now
    panel.interval([n, n], [0, size], plot.index, width=1.2)
    panel.mark(n, size, plot.index)
    at = panel.to_pixels(np.array([n]), np.array([size]))
    x, y = panel.axes.transAxes.inverted().transform(at)[0] * (panel.width, panel.height)
    label = panel.surface.fit(plot.now_label, panel.width)
    is_left = x + 6 + panel.surface.text_width(label) <= panel.width
    panel.text(float(x) + (6 if is_left else -6), float(y) + 10, label, ha="left" if is_left else "right", va="bottom")
