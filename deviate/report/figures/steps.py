"""Lines over main-loop steps or thresholds: distances, differences of curves, profiles, times to a target, growth."""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from deviate.report.figures.bundle import LARGEST, CurveLine, Floats, thin
from deviate.report.figures.panel import (
    LegendEntry,
    Panel,
    add_panel,
    few_ticks,
    is_dashed,
    join_lines,
    legend_height,
    legend_names,
    new_figure,
    new_panel,
    pad_limits,
    room_beside,
)
from deviate.report.figures.surface import Surface
from deviate.report.format import MINUS
from deviate.report.plots import GrowthPanel, GrowthPlot, StepLine, StepsPlot, SurvivalPlot

DISTANCE_HEIGHT, DISTANCE_LEFT = 190, 54
SHAPES_ON_DISTANCE = 12


def draw_steps(plot: StepsPlot, surface: Surface) -> Figure:
    """Draw the lines; recorded steps are marked by points as long as these have space."""
    entries = [LegendEntry(line.index, line.label, line.note, is_dashed(line.index)) for line in plot.lines]
    beside = room_beside(surface, entries, DISTANCE_HEIGHT)
    panel = new_panel(surface, DISTANCE_HEIGHT, () if beside else entries, left=DISTANCE_LEFT, right=beside or 16)
    steps = np.array([step for line in plot.lines for step in line.steps], dtype=float)
    values = np.concatenate([np.array([*line.values, *np.ravel(line.band)]) for line in plot.lines])
    finite = values[np.isfinite(values)]
    y = pad_limits(min(0.0, float(finite.min())), max(0.0, float(finite.max())))
    is_whole = bool((steps == np.round(steps)).all())
    panel.set_scale(pad_limits(float(steps.min()), float(steps.max())), y, is_whole=is_whole)
    for line in plot.lines:
        _draw_distance(panel, line)
    if finite.min() < 0:
        panel.rule(y=0, is_dashed=False)
    if plot.first is not None:
        panel.rule(x=plot.first)
    if beside:
        panel.name_ends(entries, [_last_value(line) for line in plot.lines])
    return panel.finish(plot.axis, plot.steps_axis)


def _last_value(line: StepLine) -> float:
    values = np.array(line.values)
    return float(values[np.isfinite(values)][-1:].sum())


def _draw_distance(panel: Panel, line: StepLine) -> None:
    x, y = np.array(line.steps, dtype=float), np.array(line.values, dtype=float)
    if line.band:
        low, high = np.array(line.band, dtype=float).T
        panel.band(x, low, high, line.index)
    panel.line(x, y, line.index, width=1.6, is_dashed=is_dashed(line.index))
    every = -(-len(x) // SHAPES_ON_DISTANCE)
    panel.points(x[::every], y[::every], line.index, diameter=7)


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


GROWTH_HEIGHT, GROWTH_GAP, GROWTH_LEFT, GROWTH_RIGHT, GROWTH_TOP, GROWTH_BELOW = 110, 52, 58, 16, 26, 42
MOST_GROWTH_POINTS = 200
MOST_GROWTH_SHAPES = 40
"""Points of a line from which on it is drawn without their shapes."""
DIFFERENCE = 2
"""Place of the colour of differences: neither run's."""


def draw_growth(plot: GrowthPlot, surface: Surface) -> Figure:
    """Draw panels with a common axis of steps; a dotted line marks the first difference between the runs."""
    entries = [LegendEntry(index, name, "", is_dashed=index == 1) for index, name in enumerate(plot.names)]
    names = legend_names(surface, entries)
    n, bottom = len(plot.panels), GROWTH_BELOW + legend_height(names)
    height = bottom + n * GROWTH_HEIGHT + (n - 1) * GROWTH_GAP + GROWTH_TOP
    figure = new_figure(surface, height)
    for place, content in enumerate(plot.panels):
        below = bottom + (n - 1 - place) * (GROWTH_HEIGHT + GROWTH_GAP)
        panel = add_panel(
            figure, surface, left=GROWTH_LEFT, bottom=below, right=GROWTH_RIGHT, top=height - below - GROWTH_HEIGHT
        )
        _draw_growth_panel(panel, plot, content)
        if place == n - 1:
            panel.name_x(plot.steps_axis)
            replace(panel, below=GROWTH_BELOW, names=names).draw_legend()
    return figure


def _draw_growth_panel(panel: Panel, plot: GrowthPlot, content: GrowthPanel) -> None:
    x = np.array(plot.steps, dtype=float)
    lines = [_heights(np.array(values, dtype=float), content) for _, values in content.lines]
    panel.axes.set_xlim(*pad_limits(float(x[0]), float(x[-1])))
    finite = np.concatenate([line[np.isfinite(line)] for line in lines])
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    # Whole powers, for an axis that lies between two of them would have no number.
    panel.axes.set_ylim(*pad_limits(*((np.floor(low), np.ceil(high)) if content.is_logarithmic else (low, high))))
    panel.ticks_x(6, is_whole=True)
    if content.is_logarithmic:
        _label_powers(panel, np.array(content.lines[0][1], dtype=float))
    else:
        panel.axes.yaxis.set_major_locator(few_ticks(4))
    if plot.first is not None:
        panel.rule(x=float(plot.first))
    for index, heights in enumerate(lines):
        line = thin(CurveLine(x, heights), MOST_GROWTH_POINTS)
        place = DIFFERENCE if content.is_logarithmic else index
        # The second run is dashed, so that the first is seen below it where both are equal.
        panel.line(line.x, line.y, place, width=1.6, is_dashed=index == 1)
        if len(x) <= MOST_GROWTH_SHAPES:
            panel.points(line.x, line.y, place, diameter=5.0)
    panel.name_y(content.axis)


def _heights(values: Floats, content: GrowthPanel) -> Floats:
    """Values to draw; NaN for values that are not finite or too large."""
    values = np.where(np.abs(values) <= LARGEST, values, np.nan)
    return _exponents(values) if content.is_logarithmic else values


def _exponents(values: Floats) -> Floats:
    """Exponents of the values to base 10; zeros are placed one below the smallest exponent."""
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.log10(np.abs(values))
    return np.where(values == 0, _floor(values), powers)


def _floor(values: Floats) -> float:
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    return float(np.floor(np.log10(sizes.min()))) - 1 if len(sizes) else 0.0


def _label_powers(panel: Panel, values: Floats) -> None:
    """Label as many powers of ten as fit, and zero as 0."""
    values = np.where(np.abs(values) <= LARGEST, values, np.nan)
    floor, (low, high) = _floor(values), panel.axes.get_ylim()
    has_zero = bool((values == 0).any())
    first = int(floor) + 1
    each = max(1, -(-(int(np.floor(high)) - first + 1) // 5))
    powers = [float(power) for power in range(first, int(np.floor(high)) + 1, each)]
    ticks = [floor, *powers] if has_zero else [power for power in powers if power >= low]
    panel.axes.yaxis.set_major_locator(FixedLocator(ticks))
    panel.axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: "0" if has_zero and y == floor else _power(y)))


def _power(exponent: float) -> str:
    """A power of ten in the notation of pages and papers."""
    n = round(exponent)
    return f"{10.0**n:g}" if -3 <= n <= 3 else f"1e{n}".replace("-", MINUS)
