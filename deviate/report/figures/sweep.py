"""One measure against the values of an argument: a point and its interval per value, and the runs behind it."""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import Entry, Panel, few_ticks, new_panel
from deviate.report.figures.reach import axis_limits, cut_note
from deviate.report.figures.surface import Surface
from deviate.report.plots import SweepLine, SweepPlot

SWEEP_HEIGHT, SWEEP_LEFT, SWEEP_RIGHT, SWEEP_BELOW = 180, 62, 18, 44
APART = 13.0
"""Units between the variants at one value."""


def draw_sweep(plot: SweepPlot, surface: Surface) -> Figure:
    """Draw the figure; variants are slightly offset, so that none hides another."""
    entries = [Entry(line.index, line.label) for line in plot.lines] if len(plot.lines) > 1 else []
    panel = new_panel(surface, SWEEP_HEIGHT, entries, left=SWEEP_LEFT, right=SWEEP_RIGHT, below=SWEEP_BELOW)
    _set_sweep_limits(panel, plot)
    is_cut = [_draw_sweep_line(panel, line, place - (len(plot.lines) - 1) / 2) for place, line in enumerate(plot.lines)]
    return panel.finish(plot.axis, plot.argument, tail=cut_note(is_cut=any(is_cut)))


def _set_sweep_limits(panel: Panel, plot: SweepPlot) -> None:
    labels = dict(sorted({point.at: point.label for line in plot.lines for point in line.points}.items()))
    places = list(labels)
    axes = panel.axes
    if plot.scale == "log":
        axes.set_xscale("log")
        axes.set_xlim(places[0] / 1.35, places[-1] * 1.35)
    else:
        air = 0.1 * (places[-1] - places[0] or 1.0)
        axes.set_xlim(places[0] - air, places[-1] + air)
    points = [point for line in plot.lines for point in line.points if point.estimate is not None]
    values = [value for point in points for value in (point.estimate, *point.raw) if value is not None]
    ends = [end for point in points for end in (point.low, point.high) if end is not None]
    low, high = axis_limits(values, ends)
    axes.set_ylim(0 if plot.from_zero and low > -high else low, high)
    axes.yaxis.set_major_locator(few_ticks(6))
    panel.ticks_at(labels, widest=panel.width / 4)


def _draw_sweep_line(panel: Panel, line: SweepLine, place: float) -> bool:
    """Draw one line; returns whether an interval exceeds the panel."""
    unit, is_cut = panel.surface.unit, False
    for point in line.points:
        if point.estimate is None:
            continue
        heights = np.array([point.estimate, *point.raw])
        pixels = panel.to_pixels(np.full(len(heights), point.at), heights) + np.array([place * APART * unit, 0.0])
        x = float(panel.axes.transData.inverted().transform(pixels[:1])[0, 0])
        if point.raw:
            raw_pixels = pixels[1:] + np.array([5.0 * unit, 0.0])
            panel.points_at(raw_pixels, line.index, diameter=3.5, is_clipped=False)
        if point.low is not None and point.high is not None:
            is_cut |= panel.upright(x, point.low, point.high, line.index, width=1.6)
        panel.points_at(pixels[:1], line.index, diameter=7.0, alpha=1.0, is_clipped=False)
    return is_cut
