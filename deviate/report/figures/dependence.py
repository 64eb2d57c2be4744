"""How a figure depends on a number that the user chooses: the number of runs, or an argument of the script."""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import LegendEntry, Panel, axis_limits, cut_note, few_ticks, new_panel
from deviate.report.figures.surface import Surface
from deviate.report.plots import PlanningPlot, SweepLine, SweepPlot

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
        # At that end where the curve is farther from it.
        is_left = abs(sizes[0] - plot.margin) > abs(sizes[-1] - plot.margin)
        label = surface.fit(plot.margin_label, panel.width / 2)
        panel.text(4 if is_left else panel.width, above, label, ha="left" if is_left else "right", va="bottom")
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


SWEEP_HEIGHT, SWEEP_LEFT, SWEEP_RIGHT, SWEEP_BELOW = 180, 62, 18, 44
APART = 13.0
"""Units between the variants at one value."""


def draw_sweep(plot: SweepPlot, surface: Surface) -> Figure:
    """Draw the figure; variants are slightly offset, so that none hides another."""
    entries = [LegendEntry(line.index, line.label) for line in plot.lines] if len(plot.lines) > 1 else []
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
            is_cut |= panel.interval(x, point.low, point.high, line.index, width=1.6)
        panel.points_at(pixels[:1], line.index, diameter=7.0, alpha=1.0, is_clipped=False)
    return is_cut
