"""Survival curves of the time to a target, and differences of curves with simultaneous bands.

Source: Kaplan & Meier (1958) for the steps with a tick at each censored run.
"""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import Entry, add_panel, join_lines, new_figure, new_panel
from deviate.report.figures.surface import Surface
from deviate.report.plots import DifferencePlot, SurvivalPlot

PANEL_HEIGHT, PANEL_LEFT, PANEL_RIGHT, PANEL_TOP = 190, 62, 16, 28


def draw_survival(plot: SurvivalPlot, surface: Surface) -> Figure:
    """Draw a step function per experiment; the earlier it falls, the earlier runs reached the target."""
    entries = [Entry(line.index, line.label, line.note) for line in plot.lines]
    panel = new_panel(surface, PANEL_HEIGHT, entries, left=PANEL_LEFT - 16, right=PANEL_RIGHT, top=PANEL_TOP)
    panel.set_scale((0, 1.02 * max(line.last for line in plot.lines) or 1), (-0.02, 1.04), is_whole=True)
    # Five units in data, above and below a run that ended.
    half = 5 * 1.06 / panel.height
    for line in plot.lines:
        steps, shares = np.array([*line.points, (line.last, line.points[-1][1])], dtype=float).T
        # The share stays until the next point, where it falls straight down; it ends with the last run.
        panel.line(steps.repeat(2)[1:-1], shares.repeat(2)[:-2], line.index, width=2)
        panel.points(steps[1:-1], shares[1:-1], line.index, diameter=6)
        share_at = {step: [share for at, share in line.points if at <= step][-1] for step in line.ended}
        ticks = [(np.full(2, float(step)), share_at[step] + np.array([-half, half])) for step in line.ended]
        panel.line(*join_lines(ticks), line.index, width=1.4, stroke=surface.ink)
    ended = ", | a run that ended before" if any(line.ended for line in plot.lines) else ""
    return panel.finish(f"share of runs not there yet{ended}", "main-loop steps done")


def draw_difference(plot: DifferencePlot, surface: Surface) -> Figure:
    """Draw the difference with its band, a line at 0, and a line at the first difference."""
    x, y = np.array(plot.steps, dtype=float), np.array(plot.difference)
    low, high = np.array(plot.band, dtype=float).T
    is_known = np.isfinite(low) & np.isfinite(high)
    figure = new_figure(surface, PANEL_HEIGHT + PANEL_TOP + 60)
    panel = add_panel(figure, surface, left=PANEL_LEFT, bottom=60, right=PANEL_RIGHT, top=PANEL_TOP)
    bottom, top = min(0.0, float(low[is_known].min())), max(0.0, float(high[is_known].max()))
    margin = 0.05 * ((top - bottom) or 1.0)
    panel.set_scale((x[0], x[-1]), (bottom - margin, top + margin), is_whole=True)
    panel.band(x, low, high, plot.index)
    panel.line(x, np.clip(y, bottom, top), plot.index, width=2)
    panel.rule(y=0, is_dashed=False)
    if plot.first is not None:
        panel.rule(x=plot.first)
    panel.name_y(plot.axis)
    panel.name_x("main-loop step")
    first = "" if plot.first is None else f"; dotted: they first differ at step {plot.first}"
    panel.text(6 - PANEL_LEFT, -51, surface.fit(f"{plot.note}{first}", surface.n_units - 12))
    return figure
