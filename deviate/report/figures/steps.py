"""Plots the distance between runs over main-loop steps: a line per experiment with a pointwise band."""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import Entry, Panel, few_ticks, is_dashed, new_panel
from deviate.report.figures.reach import pad_limits
from deviate.report.figures.surface import Surface
from deviate.report.plots import StepLine, StepsPlot

HEIGHT, LEFT = 190, 54
MOST_SHAPES = 12


def draw_steps(plot: StepsPlot, surface: Surface) -> Figure:
    """Draw the lines; recorded steps are marked by points as long as these have space."""
    entries = [Entry(line.index, line.label, line.note, is_dashed(line.index)) for line in plot.lines]
    panel = new_panel(surface, HEIGHT, entries, left=LEFT)
    first, last = (end(step for line in plot.lines for step in line.steps) for end in (min, max))
    panel.axes.set_xlim(*pad_limits(float(first), float(last)))
    values = np.concatenate([np.array([*line.values, *np.ravel(line.band)]) for line in plot.lines])
    finite = values[np.isfinite(values)]
    panel.axes.set_ylim(*pad_limits(min(0.0, float(finite.min())), float(finite.max())))
    panel.ticks_x(6, is_whole=True)
    panel.axes.yaxis.set_major_locator(few_ticks(6))
    for line in plot.lines:
        _draw(panel, line)
    panel.name_y(plot.axis)
    panel.name_x("main-loop step")
    panel.draw_legend()
    return panel.figure


def _draw(panel: Panel, line: StepLine) -> None:
    x, y = np.array(line.steps, dtype=float), np.array(line.values, dtype=float)
    low, high = np.array(line.band, dtype=float).T
    panel.band(x, low, high, line.index)
    panel.line(x, y, line.index, width=1.6, is_dashed=is_dashed(line.index))
    every = -(-len(x) // MOST_SHAPES)
    panel.points(x[::every], y[::every], line.index, diameter=7)
