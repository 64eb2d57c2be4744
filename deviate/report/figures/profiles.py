"""Performance profiles: the share of scores above each threshold, per experiment, with its band.

Source: Agarwal et al. (2021), section 4.2.
"""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import Entry, is_dashed, new_panel
from deviate.report.figures.surface import Surface
from deviate.report.plots import ProfileLine, ProfilePlot

PROFILE_HEIGHT, PROFILE_LEFT = 190, 46
SHAPES_ON_LINE = 3


def draw_profiles(plot: ProfilePlot, surface: Surface) -> Figure:
    """Draw a line per experiment; higher is better."""
    entries = [Entry(line.index, line.label, line.note, is_dashed(line.index)) for line in plot.lines]
    panel = new_panel(surface, PROFILE_HEIGHT, entries, left=PROFILE_LEFT)
    panel.set_scale((plot.thresholds[0], plot.thresholds[-1]), (-0.02, 1.02))
    x = np.array(plot.thresholds)
    for line in plot.lines:
        if line.band:
            low, high = np.array(line.band).T
            panel.band(x, low, high, line.index)
    for place, line in enumerate(plot.lines):
        y, places = np.array(line.shares), _shape_places(line, place / len(plot.lines))
        panel.line(x, y, line.index, width=2, is_dashed=is_dashed(line.index))
        panel.points(x[places], y[places], line.index, diameter=7)
    return panel.finish("share of scores above the threshold", f"threshold: {plot.axis}")


def _shape_places(line: ProfileLine, phase: float) -> list[int]:
    """Thresholds at which the line carries the marker of its experiment: where it falls and lines are apart."""
    between = np.flatnonzero([0 < share < 1 for share in line.shares])
    places = between if len(between) else np.arange(len(line.shares))
    parts = (np.arange(SHAPES_ON_LINE) + 0.25 + 0.5 * phase) / SHAPES_ON_LINE
    return [int(places[place]) for place in sorted({round(part * (len(places) - 1)) for part in parts})]
