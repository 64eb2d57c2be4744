"""How two runs grow apart: their values above, and the differences on axes of powers of ten below."""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter

from deviate.report.figures.panel import Entry, Panel, add_panel, few_ticks, legend_height, legend_names, new_figure
from deviate.report.figures.reach import pad_limits
from deviate.report.figures.surface import Surface
from deviate.report.figures.thin import LARGEST, Floats, Line, thin
from deviate.report.format import MINUS
from deviate.report.plots import GrowthPanel, GrowthPlot

GROWTH_HEIGHT, GROWTH_GAP, GROWTH_LEFT, GROWTH_RIGHT, GROWTH_TOP, GROWTH_BELOW = 110, 52, 58, 16, 26, 42
MOST_GROWTH_POINTS = 200
MOST_GROWTH_SHAPES = 40
"""Points of a line from which on it is drawn without their shapes."""
DIFFERENCE = 2
"""Place of the colour of differences: neither run's."""


def draw_growth(plot: GrowthPlot, surface: Surface) -> Figure:
    """Draw panels with a common axis of steps; a dotted line marks the first difference between the runs."""
    entries = [Entry(index, name, "", is_dashed=index == 1) for index, name in enumerate(plot.names)]
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
        line = thin(Line(x, heights), MOST_GROWTH_POINTS)
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
