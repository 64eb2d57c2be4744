"""Runs on their way to a target, and the difference of curves with its simultaneous band.

Source: Kaplan & Meier (1958) for the steps with a tick at each censored run.
"""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.legend import Entry, legend
from deviate.report.figures.panel import add_panel, few_ticks, new_figure
from deviate.report.figures.paths import Floats
from deviate.report.figures.surface import Surface
from deviate.report.plots import DifferencePlot, SurvivalLine, SurvivalPlot

PANEL_HEIGHT, LEFT, RIGHT, TOP = 190, 62, 16, 28


def survival(plot: SurvivalPlot, surface: Surface) -> Figure:
    """A stair per experiment; the sooner it falls, the sooner runs got there."""
    names = legend(surface, [Entry(it.index, it.label, it.note) for it in plot.lines], surface.n_units - 12)
    bottom = 42 + names.height
    figure = new_figure(surface, PANEL_HEIGHT + TOP + bottom)
    panel = add_panel(figure, surface, left=LEFT - 16, bottom=bottom, right=RIGHT, top=TOP)
    panel.axes.set_xlim(0, 1.02 * max(line.last for line in plot.lines) or 1)
    panel.axes.set_ylim(-0.02, 1.04)
    panel.ticks_x(6, is_whole=True)
    panel.axes.yaxis.set_major_locator(few_ticks(6))
    for line in plot.lines:
        panel.lines([panel.to_pixels(*_stairs(line))], line.index, width=2)
        corners = np.array(line.points, dtype=float)
        panel.points(panel.to_pixels(corners[1:, 0], corners[1:, 1]), line.index, diameter=6, alpha=1.0)
        if line.ended:
            shares = np.array([_share_at(line, step) for step in line.ended])
            at = panel.to_pixels(np.array(line.ended, dtype=float), shares)
            half = np.array([0, 5 * surface.unit])
            panel.lines([np.stack([it - half, it + half]) for it in at], line.index, width=1.4, stroke=surface.ink)
    ended = ", | a run that ended before" if any(line.ended for line in plot.lines) else ""
    panel.name_y(f"share of runs not there yet{ended}")
    panel.name_x("main-loop steps done")
    names.draw(panel, below=40, left=LEFT - 22)
    return figure


def difference(plot: DifferencePlot, surface: Surface) -> Figure:
    """The difference and its band, with a line at 0 and at the first difference."""
    x, y = np.array(plot.steps, dtype=float), np.array(plot.difference)
    low, high = np.array(plot.band, dtype=float).T
    is_known = np.isfinite(low) & np.isfinite(high)
    figure = new_figure(surface, PANEL_HEIGHT + TOP + 60)
    panel = add_panel(figure, surface, left=LEFT, bottom=60, right=RIGHT, top=TOP)
    bottom, top = min(0.0, float(low[is_known].min())), max(0.0, float(high[is_known].max()))
    margin = 0.05 * ((top - bottom) or 1.0)
    panel.axes.set_xlim(x[0], x[-1])
    panel.axes.set_ylim(bottom - margin, top + margin)
    panel.ticks_x(6, is_whole=True)
    panel.axes.yaxis.set_major_locator(few_ticks(6))
    ends = [panel.to_pixels(x, np.where(is_known, side, np.nan)) for side in (low, high)]
    panel.band(ends[0][:, 0], ends[0][:, 1], ends[1][:, 1], plot.index)
    panel.lines([panel.to_pixels(x, np.clip(y, bottom, top))], plot.index, width=2)
    panel.rule(y=0, is_dashed=False)
    if plot.first is not None:
        panel.rule(x=plot.first)
    panel.name_y(plot.axis)
    panel.name_x("main-loop step")
    first = "" if plot.first is None else f"; dotted: they first differ at step {plot.first}"
    panel.text(6 - LEFT, -51, surface.fit(f"{plot.note}{first}", surface.n_units - 12))
    return figure


def _stairs(line: SurvivalLine) -> tuple[Floats, Floats]:
    """The share stays until the next point, where it falls straight down; it ends with the last run."""
    steps = np.array([step for step, _ in line.points] + [line.last], dtype=float)
    shares = np.array([share for _, share in line.points])
    return np.repeat(steps, 2)[1:-1], np.repeat(shares, 2)


def _share_at(line: SurvivalLine, step: int) -> float:
    return [share for at, share in line.points if at <= step][-1]
