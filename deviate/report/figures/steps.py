"""Lines over main-loop steps or thresholds: distances, differences of curves, profiles, times to a target, growth."""

import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from deviate.report.figures.bundle import LARGEST, CurveLine, Floats, thin
from deviate.report.figures.panel import LegendEntry, Panel, is_dashed, join_lines, new_panel, pad_limits, room_beside
from deviate.report.figures.surface import Surface
from deviate.report.format import number
from deviate.report.plots import StepLine, StepsPlot, SurvivalPlot

DISTANCE_HEIGHT, DISTANCE_LEFT = 190, 54
SHAPES_ON_DISTANCE = 12
MOST_POINTS = 400
"""Of a line."""


def draw_steps(plot: StepsPlot, surface: Surface) -> Figure:
    """Draw the lines; recorded steps are marked by points as long as these have space."""
    entries = [LegendEntry(line.index, line.label, line.note, _is_dashed(line)) for line in plot.lines]
    beside = room_beside(surface, entries, DISTANCE_HEIGHT)
    panel = new_panel(surface, DISTANCE_HEIGHT, () if beside else entries, left=DISTANCE_LEFT, right=beside or 16)
    steps = np.array([step for line in plot.lines for step in line.steps], dtype=float)
    values = np.concatenate([np.array([*line.values, *np.ravel(line.band)]) for line in plot.lines])
    finite = values[np.abs(values) <= LARGEST] if (np.abs(values) <= LARGEST).any() else np.zeros(1)
    low, high = float(finite.min()), float(finite.max())
    y = pad_limits(min(0.0, low), max(0.0, high)) if plot.from_zero else pad_limits(low, high)
    is_whole = bool((steps == np.round(steps)).all())
    panel.set_scale(pad_limits(float(steps.min()), float(steps.max())), y, is_whole=is_whole)
    if plot.is_logarithmic:
        _set_powers(panel, np.abs(finite))
    for line in plot.lines:
        _draw_distance(panel, line)
    if low < 0:
        panel.rule(y=0, is_dashed=False)
    if plot.first is not None:
        panel.rule(x=plot.first)
    if beside:
        panel.name_ends(entries, [_last_value(line) for line in plot.lines])
    return panel.finish(plot.axis, plot.steps_axis)


def _set_powers(panel: Panel, sizes: Floats) -> None:
    """An axis of powers of ten, with a place for 0 below the smallest of them."""
    powers = np.log10(sizes[sizes > 0]) if (sizes > 0).any() else np.zeros(1)
    first, last = math.floor(powers.min()), max(math.ceil(powers.max()), math.floor(powers.min()) + 1)
    panel.axes.set_yscale("symlog", linthresh=10.0**first, linscale=0.5)
    panel.axes.set_ylim(0, 10.0**last)
    ticks = [0.0, *(10.0**power for power in range(first, last + 1, -(-(last - first) // 5)))]
    panel.axes.yaxis.set_major_locator(FixedLocator(ticks))
    panel.axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value, None)))


def _is_dashed(line: StepLine) -> bool:
    return line.is_dashed or is_dashed(line.index)


def _last_value(line: StepLine) -> float:
    values = np.array(line.values)
    return float(values[np.abs(values) <= LARGEST][-1:].sum())


def _draw_distance(panel: Panel, line: StepLine) -> None:
    x, y = np.array(line.steps, dtype=float), np.array(line.values, dtype=float)
    if line.band:
        low, high = np.array(line.band, dtype=float).T
        panel.band(x, low, high, line.index)
    thinned = thin(CurveLine(x, np.where(np.abs(y) <= LARGEST, y, np.nan)), MOST_POINTS)
    panel.line(thinned.x, thinned.y, line.index, width=1.6, is_dashed=_is_dashed(line))
    every = -(-len(thinned.x) // SHAPES_ON_DISTANCE)
    panel.points(thinned.x[::every], thinned.y[::every], line.index, diameter=7)


# Source of survival curves: Kaplan & Meier (1958), with a tick at each censored run.

PANEL_HEIGHT, PANEL_LEFT, PANEL_RIGHT, PANEL_TOP = 190, 62, 16, 28


def draw_survival(plot: SurvivalPlot, surface: Surface) -> Figure:
    """Draw a step function per experiment; the earlier it falls, the earlier runs reached the target."""
    entries = [LegendEntry(line.index, line.label, line.note) for line in plot.lines]
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
    ended = ", | a run that ended" if any(line.ended for line in plot.lines) else ""
    return panel.finish(f"share of runs not yet at the target{ended}", "main-loop steps done")
