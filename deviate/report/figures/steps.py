"""Plots the distance between runs over main-loop steps: a line per experiment with a pointwise band."""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import Entry, Panel, is_dashed, new_panel
from deviate.report.figures.reach import pad_limits
from deviate.report.figures.surface import Surface
from deviate.report.plots import StepLine, StepsPlot

DISTANCE_HEIGHT, DISTANCE_LEFT = 190, 54
SHAPES_ON_DISTANCE = 12


def draw_steps(plot: StepsPlot, surface: Surface) -> Figure:
    """Draw the lines; recorded steps are marked by points as long as these have space."""
    entries = [Entry(line.index, line.label, line.note, is_dashed(line.index)) for line in plot.lines]
    panel = new_panel(surface, DISTANCE_HEIGHT, entries, left=DISTANCE_LEFT)
    first, last = (end(step for line in plot.lines for step in line.steps) for end in (min, max))
    values = np.concatenate([np.array([*line.values, *np.ravel(line.band)]) for line in plot.lines])
    finite = values[np.isfinite(values)]
    y = pad_limits(min(0.0, float(finite.min())), float(finite.max()))
    panel.set_scale(pad_limits(float(first), float(last)), y, is_whole=True)
    for line in plot.lines:
        _draw_distance(panel, line)
    return panel.finish(plot.axis, "main-loop step")


def _draw_distance(panel: Panel, line: StepLine) -> None:
    x, y = np.array(line.steps, dtype=float), np.array(line.values, dtype=float)
    low, high = np.array(line.band, dtype=float).T
    panel.band(x, low, high, line.index)
    panel.line(x, y, line.index, width=1.6, is_dashed=is_dashed(line.index))
    every = -(-len(x) // SHAPES_ON_DISTANCE)
    panel.points(x[::every], y[::every], line.index, diameter=7)
