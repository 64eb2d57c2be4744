"""Kernels in rows, by cumulative time.

Source: Zhuang et al. (2022), as points, for a bar on a logarithmic axis has no beginning.
"""

from matplotlib.figure import Figure

from deviate.report.figures.panel import LegendEntry, Panel, new_panel
from deviate.report.figures.surface import Surface
from deviate.report.plots import KernelPlot

KERNEL_ROW, KERNEL_TOP, KERNEL_BELOW = 20, 10, 44
FREE, HELD = 0, 1


def draw_kernels(plot: KernelPlot, surface: Surface) -> Figure:
    """Draw the kernels, with a thin line between the two modes; a kernel of one mode has a single point."""
    n, entries = len(plot.lines), [LegendEntry(FREE, plot.free), LegendEntry(HELD, plot.held)]
    left = min(0.46 * surface.n_units, 12 + max(surface.text_width(line.label) for line in plot.lines))
    panel = new_panel(surface, KERNEL_ROW * n, entries, left=left, right=14, top=KERNEL_TOP, below=KERNEL_BELOW)
    times = [time for line in plot.lines for time in (line.free, line.held) if time]
    panel.axes.set_xscale("log")
    panel.axes.set_xlim(min(times) / 1.5, max(times) * 1.5)
    panel.arrange_rows(n)
    _set_time_ticks(panel, plot)
    for row, line in enumerate(plot.lines):
        if line.free and line.held:
            panel.line([line.free, line.held], [row, row], None, width=0.8)
        for index, time in ((FREE, line.free), (HELD, line.held)):
            if time:
                panel.points([time], [row], index, diameter=6.5)
        panel.name_row(row, n, [line.label], gap=8, width=left - 10)
    panel.name_x(plot.axis)
    panel.draw_legend()
    return panel.figure


def _set_time_ticks(panel: Panel, plot: KernelPlot) -> None:
    """Ticks inside the panel; if there is no space for all, only powers of ten, then only some of them."""
    low, high = panel.axes.get_xlim()
    ticks = [(value, text) for value, text in plot.ticks if low <= value <= high]
    if sum(panel.surface.text_width(text) + 10 for _, text in ticks) > panel.width:
        ticks = [(value, text) for value, text in ticks if text.startswith("1")]
    each = 1 + int(sum(panel.surface.text_width(text) + 10 for _, text in ticks) / panel.width)
    panel.label_ticks(dict(ticks[::each]))
