"""The longest kernels of two modes: a row each, a point per mode on a logarithmic axis.

Source: Zhuang et al. (2022), kernels by cumulative time; points, for a bar on a logarithmic axis has no beginning.
"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from deviate.report.figures.legend import Entry, legend
from deviate.report.figures.panel import Panel, add_panel, new_figure
from deviate.report.figures.surface import Surface
from deviate.report.plots import KernelLine, KernelPlot

ROW, TOP, BELOW = 20, 10, 44
FREE, HELD = 0, 1


def kernels(plot: KernelPlot, surface: Surface) -> Figure:
    """A thin line joins the two modes of a kernel; what one mode does without has one point."""
    names = legend(surface, [Entry(FREE, plot.free, ""), Entry(HELD, plot.held, "")], surface.n_units - 12)
    left = min(0.46 * surface.n_units, 12 + max(surface.text_width(it.label) for it in plot.lines))
    bottom = BELOW + names.height
    figure = new_figure(surface, ROW * len(plot.lines) + TOP + bottom)
    panel = add_panel(figure, surface, left=left, bottom=bottom, right=14, top=TOP)
    times = [time for line in plot.lines for time in (line.free, line.held) if time]
    panel.axes.set_xscale("log")
    panel.axes.set_xlim(min(times) / 1.5, max(times) * 1.5)
    panel.axes.set_ylim(len(plot.lines) - 0.5, -0.5)
    panel.axes.set_yticks([])
    panel.axes.spines["left"].set_visible(False)
    _ticks(panel, plot)
    for place, line in enumerate(plot.lines):
        _draw(panel, place, line)
        y = panel.height * (1 - (place + 0.5) / len(plot.lines))
        panel.text(-8, y, surface.fit(line.label, left - 10), ha="right")
    panel.name_x(plot.axis)
    names.draw(panel, below=42, left=left - 6)
    return figure


def _ticks(panel: Panel, plot: KernelPlot) -> None:
    """Those within the panel; where there is no room for all, powers of ten, and where there is none, some of them."""
    low, high = panel.axes.get_xlim()
    shown = [(at, text) for at, text in plot.ticks if low <= at <= high]
    if sum(panel.surface.text_width(text) + 10 for _, text in shown) > panel.width:
        shown = [(at, text) for at, text in shown if text.startswith("1")]
    each = 1 + int(sum(panel.surface.text_width(text) + 10 for _, text in shown) / panel.width)
    texts = dict(shown[::each])
    panel.axes.xaxis.set_major_locator(FixedLocator(list(texts)))
    panel.axes.xaxis.set_minor_locator(NullLocator())
    panel.axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: texts.get(x, "")))


def _draw(panel: Panel, place: int, line: KernelLine) -> None:
    if line.free and line.held:
        panel.interval([line.free, line.held], [place, place], None, width=0.8)
    for index, time in ((FREE, line.free), (HELD, line.held)):
        if time:
            at = panel.to_pixels(np.array([time]), np.array([float(place)]))
            panel.points(at, index, diameter=6.5, alpha=1.0)
