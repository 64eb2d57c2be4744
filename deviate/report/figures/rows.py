"""A row each for variants and kernels, with all of their runs.

Source: Lewis & Clarke (2001) for the forest plot, with raw points below each line, for an SD of few runs hides what it
is made of; Zhuang et al. (2022) for kernels by cumulative time, as points, for a bar on a logarithmic axis has no
beginning.
"""

from matplotlib.figure import Figure

from deviate.report.figures.panel import (
    LegendEntry,
    Panel,
    add_panel,
    cut_note,
    new_figure,
    new_panel,
)
from deviate.report.figures.surface import Surface
from deviate.report.plots import ForestPlot, ForestRow, KernelPlot

FOREST_ROW, FOREST_TOP, FOREST_BOTTOM = 44, 8, 46
FARTHEST_SD = 4.0
"""The axis ends at so many times the largest SD: an interval from two runs would leave no room for all others."""


def draw_forest(plot: ForestPlot, surface: Surface) -> Figure:
    """Draw one line per variant on an axis from 0."""
    names = min(120.0, 0.3 * surface.n_units, 6 + max(surface.text_width(row.label) for row in plot.rows))
    n = len(plot.rows)
    figure = new_figure(surface, FOREST_ROW * n + FOREST_TOP + FOREST_BOTTOM)
    panel = add_panel(figure, surface, left=names + 14, bottom=FOREST_BOTTOM, right=16, top=FOREST_TOP)
    panel.axes.set_xlim(0, 1.04 * _forest_end(plot))
    panel.arrange_rows(n)
    panel.ticks_x(6)
    if plot.reference is not None:
        panel.rule(x=plot.reference)
    is_cut = [_draw_forest_row(panel, index, row) for index, row in enumerate(plot.rows)]
    for index, row in enumerate(plot.rows):
        panel.name_row(index, n, [row.label, row.note], gap=14, width=names)
    panel.name_x(plot.axis, tail=cut_note(is_cut=any(is_cut)), width=surface.n_units - 22)
    return figure


def _forest_end(plot: ForestPlot) -> float:
    largest = max(row.sd or 0.0 for row in plot.rows)
    highest = max(row.high or row.sd or 0.0 for row in plot.rows)
    farthest = max((distance for row in plot.rows for distance in row.distances), default=0.0)
    return max(farthest, min(highest, FARTHEST_SD * largest))


def _draw_forest_row(panel: Panel, index: int, row: ForestRow) -> bool:
    """Draw one row; returns whether its interval exceeds the panel."""
    y, is_cut = index - 0.12, False
    if row.sd is not None and row.low is not None and row.high is not None:
        is_cut = panel.level(y, row.low, row.high, index)
    if row.sd is not None:
        panel.mark(row.sd, y, index)
    if row.remark:
        air = 0.025 * panel.axes.get_xlim()[1]
        panel.text_at(air, y, panel.surface.wrap(row.remark, 0.95 * panel.width), ha="left")
    if row.distances:
        panel.swarm(row.distances, index + 0.22, index, height=8, diameter=4.0, is_below=True)
    return is_cut


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
