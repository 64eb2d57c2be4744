"""Performance profiles: the share of scores above each threshold, per experiment, with its band.

Source: Agarwal et al. (2021), section 4.2.
"""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.legend import Entry, legend
from deviate.report.figures.panel import Panel, add_panel, few_ticks, new_figure
from deviate.report.figures.surface import PALETTE, Surface
from deviate.report.plots import ProfileLine, ProfilePlot

PANEL_HEIGHT, LEFT, RIGHT, TOP = 190, 46, 16, 28
SHAPES_ON_LINE = 3


def profiles(plot: ProfilePlot, surface: Surface) -> Figure:
    """A line per experiment; the higher it lies, the better."""
    entries = [Entry(it.index, it.label, it.note, _is_dashed(it)) for it in plot.lines]
    names = legend(surface, entries, surface.n_units - 12)
    bottom = 42 + names.height
    figure = new_figure(surface, PANEL_HEIGHT + TOP + bottom)
    panel = add_panel(figure, surface, left=LEFT, bottom=bottom, right=RIGHT, top=TOP)
    panel.axes.set_xlim(plot.thresholds[0], plot.thresholds[-1])
    panel.axes.set_ylim(-0.02, 1.02)
    panel.ticks_x(6)
    panel.axes.yaxis.set_major_locator(few_ticks(6))
    for line in plot.lines:
        _draw_band(panel, plot, line)
    for place, line in enumerate(plot.lines):
        at = panel.to_pixels(np.array(plot.thresholds), np.array(line.shares))
        panel.lines([at], line.index, width=2, is_dashed=_is_dashed(line))
        panel.points(at[_shaped(line, place / len(plot.lines))], line.index, diameter=7, alpha=1.0)
    panel.name_y("share of scores above the threshold")
    panel.name_x(f"threshold: {plot.axis}")
    names.draw(panel, below=40, left=LEFT - 6)
    return figure


def _draw_band(panel: Panel, plot: ProfilePlot, line: ProfileLine) -> None:
    if not line.band:
        return
    x = np.array(plot.thresholds)
    low, high = (panel.to_pixels(x, np.array(side)) for side in zip(*line.band, strict=True))
    panel.band(low[:, 0], low[:, 1], high[:, 1], line.index)


def _shaped(line: ProfileLine, phase: float) -> list[int]:
    """Thresholds at which the line bears the shape of its experiment: on its way down, where lines are apart."""
    between = np.flatnonzero([0 < share < 1 for share in line.shares])
    places = between if len(between) else np.arange(len(line.shares))
    parts = (np.arange(SHAPES_ON_LINE) + 0.25 + 0.5 * phase) / SHAPES_ON_LINE
    return [int(places[it]) for it in sorted({round(part * (len(places) - 1)) for part in parts})]


def _is_dashed(line: ProfileLine) -> bool:
    """Colours come again after the last of them, dashed."""
    return (line.index // len(PALETTE)) % 2 == 1
