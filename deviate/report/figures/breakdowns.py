"""Classes below each other, the widest first: every run as a point, the mean with one SD to either side."""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import add_panel, new_figure
from deviate.report.figures.reach import limits
from deviate.report.figures.surface import Surface
from deviate.report.figures.swarm import aside, diameter
from deviate.report.plots import BreakdownPlot

ROW, TOP, BOTTOM = 26, 28, 26


def breakdown(plot: BreakdownPlot, surface: Surface) -> Figure:
    names = min(130.0, 0.3 * surface.n_units)
    figure = new_figure(surface, ROW * len(plot.lines) + TOP + BOTTOM)
    panel = add_panel(figure, surface, left=names + 12, bottom=BOTTOM, right=14, top=TOP)
    ends = [it.mean + sign * it.sd for it in plot.lines if it.mean is not None and it.sd for sign in (-1, 1)]
    panel.axes.set_xlim(*limits([value for line in plot.lines for value in line.values], ends))
    panel.axes.set_ylim(len(plot.lines) - 0.5, -0.5)
    panel.axes.set_yticks([])
    panel.axes.spines["left"].set_visible(False)
    panel.ticks_x(6)
    size, unit = diameter(max(len(line.values) for line in plot.lines)), surface.unit
    for place, line in enumerate(plot.lines):
        at = panel.to_pixels(np.array(line.values, dtype=float), np.full(len(line.values), place - 0.1))
        if plot.has_range:
            panel.interval([min(line.values), max(line.values)], [place - 0.1] * 2, plot.index, width=0.7)
        at[:, 1] += aside(at[:, 0], 0.28 * ROW * unit, size * unit)
        panel.points(at, plot.index, diameter=size)
        if line.mean is not None and line.sd:
            panel.interval([line.mean - line.sd, line.mean + line.sd], [place + 0.36] * 2, plot.index, width=1.4)
            panel.mark(line.mean, place + 0.36, plot.index, diameter=4.5)
        label = surface.fit(line.label, names)
        panel.text(-12, panel.height * (1 - (place + 0.5) / len(plot.lines)), label, ha="right")
    panel.text(-names - 6, panel.height + 8, surface.fit(plot.axis, surface.n_units - 12), va="bottom")
    return figure
