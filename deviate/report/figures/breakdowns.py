"""Classes below each other, the widest first: every run as a point, the mean with one SD to either side."""

from matplotlib.figure import Figure

from deviate.report.figures.panel import add_panel, new_figure
from deviate.report.figures.reach import axis_limits
from deviate.report.figures.surface import Surface
from deviate.report.figures.swarm import diameter
from deviate.report.plots import BreakdownPlot

CLASS_ROW, CLASS_TOP, CLASS_BOTTOM = 26, 28, 26


def draw_breakdown(plot: BreakdownPlot, surface: Surface) -> Figure:
    names, n = min(130.0, 0.3 * surface.n_units), len(plot.lines)
    figure = new_figure(surface, CLASS_ROW * n + CLASS_TOP + CLASS_BOTTOM)
    panel = add_panel(figure, surface, left=names + 12, bottom=CLASS_BOTTOM, right=14, top=CLASS_TOP)
    spreads = [(line.mean, line.sd) for line in plot.lines if line.mean is not None and line.sd]
    ends = [mean + sign * sd for mean, sd in spreads for sign in (-1, 1)]
    panel.axes.set_xlim(*axis_limits([value for line in plot.lines for value in line.values], ends))
    panel.arrange_rows(n)
    panel.ticks_x(6)
    size = diameter(max(len(line.values) for line in plot.lines))
    for row, line in enumerate(plot.lines):
        if plot.has_range:
            ends = [min(line.values), max(line.values)]
            panel.line(ends, [row - 0.1] * 2, plot.index, width=0.7, stroke=surface.ink)
        panel.swarm(line.values, row - 0.1, plot.index, height=0.28 * CLASS_ROW, diameter=size)
        if line.mean is not None and line.sd:
            ends = [line.mean - line.sd, line.mean + line.sd]
            panel.line(ends, [row + 0.36] * 2, plot.index, width=1.4, stroke=surface.ink)
            panel.mark(line.mean, row + 0.36, plot.index, diameter=4.5)
        panel.name_row(row, n, [line.label], gap=12, width=names)
    panel.text(-names - 6, panel.height + 8, surface.fit(plot.axis, surface.n_units - 12), va="bottom")
    return figure
