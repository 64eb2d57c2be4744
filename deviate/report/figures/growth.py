"""How two runs grow apart: their values above, and the differences on axes of powers of ten below."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from deviate.report.figures.legend import Entry, legend
from deviate.report.figures.panel import Panel, add_panel, few_ticks, new_figure
from deviate.report.figures.reach import padded
from deviate.report.figures.surface import Surface
from deviate.report.figures.thin import LARGEST, Floats, Line, thin
from deviate.report.format import MINUS
from deviate.report.plots import GrowthPanel, GrowthPlot

PANEL_HEIGHT, GAP, LEFT, RIGHT, TOP, BELOW = 110, 52, 58, 16, 26, 42
MOST_POINTS = 200
MOST_SHAPES = 40
"""Points of a line from which on it is drawn without their shapes."""
DIFFERENCE = 2
"""Place of the colour of differences: neither run's."""


def growth(plot: GrowthPlot, surface: Surface) -> Figure:
    """Panels above each other over the same steps; a dotted line where the runs differ first."""
    entries = [Entry(index, name, "", is_dashed=index == 1) for index, name in enumerate(plot.names)]
    names = legend(surface, entries, surface.n_units - 12)
    n, bottom = len(plot.panels), BELOW + names.height
    height = bottom + n * PANEL_HEIGHT + (n - 1) * GAP + TOP
    figure = new_figure(surface, height)
    for place, it in enumerate(plot.panels):
        below = bottom + (n - 1 - place) * (PANEL_HEIGHT + GAP)
        panel = add_panel(figure, surface, left=LEFT, bottom=below, right=RIGHT, top=height - below - PANEL_HEIGHT)
        _draw(panel, plot, it)
        if place == n - 1:
            panel.name_x(plot.steps_axis)
            names.draw(panel, below=40, left=LEFT - 6)
    return figure


def _draw(panel: Panel, plot: GrowthPlot, it: GrowthPanel) -> None:
    x = np.array(plot.steps, dtype=float)
    lines = [_heights(np.array(values, dtype=float), it) for _, values in it.lines]
    panel.axes.set_xlim(*padded(float(x[0]), float(x[-1])))
    known = np.concatenate([line[np.isfinite(line)] for line in lines])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    # Whole powers, for an axis that lies between two of them would have no number.
    panel.axes.set_ylim(*padded(*((np.floor(low), np.ceil(high)) if it.is_logarithmic else (low, high))))
    panel.ticks_x(6, is_whole=True)
    if it.is_logarithmic:
        _powers(panel, np.array(it.lines[0][1], dtype=float))
    else:
        panel.axes.yaxis.set_major_locator(few_ticks(4))
    if plot.first is not None:
        panel.rule(x=float(plot.first))
    for index, heights in enumerate(lines):
        line = thin(Line(x, heights), MOST_POINTS)
        at, colour = panel.to_pixels(line.x, line.y), DIFFERENCE if it.is_logarithmic else index
        # The second run is dashed, so that the first is seen below it where both are equal.
        panel.lines([at], colour, width=1.6, is_dashed=index == 1)
        if len(x) <= MOST_SHAPES:
            panel.points(at[np.isfinite(line.y)], colour, diameter=5.0, alpha=1.0)
    panel.name_y(it.axis)


def _heights(values: Floats, it: GrowthPanel) -> Floats:
    """Where values stand; what is not finite, or too large to be drawn, stands nowhere."""
    values = np.where(np.abs(values) <= LARGEST, values, np.nan)
    return _exponents(values) if it.is_logarithmic else values


def _exponents(values: Floats) -> Floats:
    """Powers of ten, and for 0 a place one below the smallest of them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        powers = np.log10(np.abs(values))
    return np.where(values == 0, _floor(values), powers)


def _floor(values: Floats) -> float:
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    return float(np.floor(np.log10(sizes.min()))) - 1 if len(sizes) else 0.0


def _powers(panel: Panel, values: Floats) -> None:
    """Whole powers of ten, as many as have room; 0 by its name."""
    values = np.where(np.abs(values) <= LARGEST, values, np.nan)
    floor, (low, high) = _floor(values), panel.axes.get_ylim()
    has_zero = bool((values == 0).any())
    first = int(floor) + 1
    each = max(1, -(-(int(np.floor(high)) - first + 1) // 5))
    shown = [float(it) for it in range(first, int(np.floor(high)) + 1, each)]
    shown = [floor, *shown] if has_zero else [it for it in shown if it >= low]
    panel.axes.yaxis.set_major_locator(FixedLocator(shown))
    panel.axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: "0" if has_zero and y == floor else _power(y)))


def _power(exponent: float) -> str:
    """A power of ten as the text of pages and papers has it."""
    n = round(exponent)
    return f"{10.0**n:g}" if -3 <= n <= 3 else f"1e{n}".replace("-", MINUS)
