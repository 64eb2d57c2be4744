"""How far runs are apart after steps of the main loop: a line per experiment with its pointwise band."""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.legend import Entry, legend
from deviate.report.figures.panel import Panel, add_panel, few_ticks, new_figure
from deviate.report.figures.reach import padded
from deviate.report.figures.surface import PALETTE, Surface
from deviate.report.plots import StepLine, StepsPlot

PANEL_HEIGHT, LEFT, RIGHT, TOP = 190, 54, 16, 28
MOST_SHAPES = 12


def steps(plot: StepsPlot, surface: Surface) -> Figure:
    """Every step that was kept is a point, as far as they have room."""
    entries = [Entry(it.index, it.label, it.note, _is_dashed(it)) for it in plot.lines]
    names = legend(surface, entries, surface.n_units - 12)
    bottom = 42 + names.height
    figure = new_figure(surface, PANEL_HEIGHT + TOP + bottom)
    panel = add_panel(figure, surface, left=LEFT, bottom=bottom, right=RIGHT, top=TOP)
    first, last = (end(step for it in plot.lines for step in it.steps) for end in (min, max))
    panel.axes.set_xlim(*padded(float(first), float(last)))
    values = np.concatenate([np.array([*it.values, *np.ravel(it.band)]) for it in plot.lines])
    known = values[np.isfinite(values)]
    panel.axes.set_ylim(*padded(min(0.0, float(known.min())), float(known.max())))
    panel.ticks_x(6, is_whole=True)
    panel.axes.yaxis.set_major_locator(few_ticks(6))
    for line in plot.lines:
        _draw(panel, line)
    panel.name_y(plot.axis)
    panel.name_x("main-loop step")
    names.draw(panel, below=40, left=LEFT - 6)
    return figure


def _draw(panel: Panel, line: StepLine) -> None:
    x, y = np.array(line.steps, dtype=float), np.array(line.values, dtype=float)
    low, high = (panel.to_pixels(x, np.array(side)) for side in zip(*line.band, strict=True))
    panel.band(low[:, 0], low[:, 1], high[:, 1], line.index)
    at = panel.to_pixels(x, y)
    panel.lines([at], line.index, width=1.6, is_dashed=_is_dashed(line))
    every = -(-len(at) // MOST_SHAPES)
    panel.points(at[::every][np.isfinite(y[::every])], line.index, diameter=7, alpha=1.0)


def _is_dashed(line: StepLine) -> bool:
    """Colours come again after the last of them, dashed."""
    return (line.index // len(PALETTE)) % 2 == 1
