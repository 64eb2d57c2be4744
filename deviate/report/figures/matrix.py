"""A figure for each pair of runs as a heat map: cells below the diagonal, with text where they are few.

The cells are one picture of as many pixels as there are cells, for a hundred runs would else be five thousand paths, a
tenth of a megabyte. Its colour is that of the experiment, more or less transparent, so that it suits any ground.
"""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from deviate.report.figures.panel import Panel, add_panel, name_series, new_figure
from deviate.report.figures.surface import Surface, colour
from deviate.report.plots import MatrixPlot

LEFT, RIGHT, TOP, BOTTOM = 44, 14, 30, 66
CELL, WIDEST = 42, 330
LIGHTEST, DARKEST = 0.08, 0.62
"""Opacity; with more of it text in the cells would be hard to read."""
MOST_NAMES = 12


def draw_matrix(plot: MatrixPlot, surface: Surface) -> Figure:
    """Draw a row and a column per run, with a scale from the minimum to the maximum below."""
    n = len(plot.names) - 1
    side = min(CELL * max(n, 2), WIDEST, surface.n_units - LEFT - RIGHT)
    figure = new_figure(surface, side + TOP + BOTTOM)
    panel = add_panel(figure, surface, left=LEFT, bottom=BOTTOM, right=surface.n_units - LEFT - side, top=TOP)
    panel.axes.imshow(_cells(plot), extent=(-0.5, n - 0.5, n + 0.5, 0.5), aspect="auto", interpolation="none")
    panel.axes.spines[["left", "bottom"]].set_visible(False)
    every = -(-n // MOST_NAMES)
    panel.axes.set_xticks(range(0, n, every), plot.names[:-1:every])
    panel.axes.set_yticks(range(1, n + 1, every), plot.names[1::every])
    panel.axes.tick_params(length=0)
    for row, texts in enumerate(plot.texts):
        for column, text in enumerate(texts[:row]):
            panel.axes.text(column, row, text, ha="center", va="center")
    panel.text(6 - LEFT, side + 10, surface.fit(plot.axis, surface.n_units - 12), va="bottom")
    _scale(panel, plot)
    return figure


def _cells(plot: MatrixPlot) -> NDArray[np.float64]:
    """Cell colours, shape (R - 1, R - 1, 4): rows from the second run, columns to the last but one."""
    values = np.array(plot.values)
    pairs = values[np.tril_indices(len(values), -1)]
    finite = pairs[np.isfinite(pairs)]
    low, span = finite.min(), finite.max() - finite.min()
    share = np.clip((values - low) / span, 0, 1) if span > 0 else np.zeros_like(values)
    opacity = np.where(np.isfinite(values), LIGHTEST + (DARKEST - LIGHTEST) * share, 0.0)
    alpha = np.tril(opacity, -1)[1:, :-1]
    return np.dstack([np.broadcast_to(to_rgb(colour(plot.index)), (*alpha.shape, 3)), alpha])


def _scale(panel: Panel, plot: MatrixPlot) -> None:
    """Draw five shades of the colour, labelled at both ends."""
    y, size = -44.0, 16.0
    panel.text(6 - LEFT, y, plot.low)
    begin = 6 - LEFT + panel.surface.text_width(plot.low) + 8
    for step, alpha in enumerate(np.linspace(LIGHTEST, DARKEST, 5)):
        corner = ((begin + step * size) / panel.width, (y - size / 2) / panel.height)
        cell = Rectangle(corner, size / panel.width, size / panel.height, transform=panel.axes.transAxes)
        cell.set(facecolor=colour(plot.index), alpha=float(alpha), linewidth=0, clip_on=False)
        name_series(cell, plot.index)
        panel.axes.add_artist(cell)
    panel.text(begin + 5 * size + 8, y, f"{plot.high} · replicates")
