"""One measure against the values of an argument: a point and its interval per value, and the runs behind it."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from deviate.report.figures.legend import Entry, legend
from deviate.report.figures.panel import Panel, add_panel, few_ticks, new_figure
from deviate.report.figures.reach import goes_on, limits
from deviate.report.figures.surface import Surface
from deviate.report.plots import SweepLine, SweepPlot

PANEL_HEIGHT, LEFT, RIGHT, TOP, BELOW = 180, 62, 18, 28, 44
APART = 13.0
"""Units between the variants at one value."""


def sweep(plot: SweepPlot, surface: Surface) -> Figure:
    """The figure; variants stand a little beside each other, so that none hides another."""
    entries = [Entry(it.index, it.label, "") for it in plot.lines]
    names = legend(surface, entries, surface.n_units - 12) if len(entries) > 1 else legend(surface, (), 1)
    bottom = BELOW + names.height
    figure = new_figure(surface, PANEL_HEIGHT + TOP + bottom)
    panel = add_panel(figure, surface, left=LEFT, bottom=bottom, right=RIGHT, top=TOP)
    _scale(panel, plot)
    is_cut = [_draw(panel, line, place - (len(plot.lines) - 1) / 2) for place, line in enumerate(plot.lines)]
    panel.name_y(plot.axis, tail=goes_on(is_cut=any(is_cut)))
    panel.name_x(plot.argument)
    names.draw(panel, below=42, left=LEFT - 6)
    return figure


def _scale(panel: Panel, plot: SweepPlot) -> None:
    at = {point.at: point.label for line in plot.lines for point in line.points}
    places = sorted(at)
    axes = panel.axes
    if plot.scale == "log":
        axes.set_xscale("log")
        axes.set_xlim(places[0] / 1.35, places[-1] * 1.35)
    else:
        air = 0.1 * (places[-1] - places[0] or 1.0)
        axes.set_xlim(places[0] - air, places[-1] + air)
    points = [point for line in plot.lines for point in line.points if point.estimate is not None]
    values = [it for point in points for it in (point.estimate, *point.raw) if it is not None]
    ends = [it for point in points for it in (point.low, point.high) if it is not None]
    low, high = limits(values, ends)
    axes.set_ylim(0 if plot.from_zero and low > -high else low, high)
    axes.yaxis.set_major_locator(few_ticks(6))
    shown = _with_room(panel, places, at)
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: panel.surface.fit(at.get(x, ""), panel.width / 4)))


def _with_room(panel: Panel, places: list[float], labels: dict[float, str]) -> list[float]:
    """The values that have room side by side, from the left on."""
    shown, end = [], -np.inf
    for place in places:
        at = panel.to_pixels(np.array([place]), np.array([panel.axes.get_ylim()[0]]))
        x = panel.width * float(panel.axes.transAxes.inverted().transform(at)[0, 0])
        half = min(panel.surface.text_width(labels[place]), panel.width / 4) / 2
        if x - half >= end + 6:
            shown.append(place)
            end = x + half
    return shown


def _draw(panel: Panel, line: SweepLine, place: float) -> bool:
    """Whether an interval leaves the panel."""
    unit, is_cut = panel.surface.unit, False
    for point in line.points:
        if point.estimate is None:
            continue
        heights = np.array([point.estimate, *point.raw])
        pixels = panel.to_pixels(np.full(len(heights), point.at), heights) + np.array([place * APART * unit, 0.0])
        x = float(panel.axes.transData.inverted().transform(pixels[:1])[0, 0])
        if point.raw:
            panel.opened().points(pixels[1:] + np.array([5.0 * unit, 0.0]), line.index, diameter=3.5)
        if point.low is not None and point.high is not None:
            is_cut |= panel.upright(x, point.low, point.high, line.index, width=1.6)
        panel.opened().points(pixels[:1], line.index, diameter=7.0, alpha=1.0)
    return is_cut
