"""The estimation plot of many experiments: a row each, raw points and the difference to the baseline beside them.

Source: Cumming (2012), turned by a quarter, for ten names fit below each other and not side by side.
"""

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import Panel, add_panel, new_figure
from deviate.report.figures.reach import goes_on, limits
from deviate.report.figures.surface import Surface
from deviate.report.figures.swarm import aside, diameter
from deviate.report.plots import EstimationPlot, PlottedDifference, PointGroup

ROW, TOP, BOTTOM, GAP = 42, 48, 26, 22


def rows(plot: EstimationPlot, surface: Surface) -> Figure:
    """The figure; without differences the points have all of its width."""
    names = min(130.0, 0.28 * surface.n_units)
    beside = 0.3 * surface.n_units if plot.differences else 0.0
    figure = new_figure(surface, ROW * len(plot.groups) + TOP + BOTTOM)
    left, right = names + 12, 14 + (beside + GAP if beside else 0)
    points = add_panel(figure, surface, left=left, bottom=BOTTOM, right=right, top=TOP)
    values = [value for group in plot.groups for value in group.values]
    drawn = {group.label: group.one_sd if plot.differences else (group.low, group.high) for group in plot.groups}
    ends = [it for pair in drawn.values() for it in pair if it is not None]
    points.axes.set_xlim(*limits(values, ends))
    _arrange(points, len(plot.groups))
    size = diameter(max(len(group.values) for group in plot.groups))
    is_cut = [_draw_group(points, place, group, drawn[group.label], size) for place, group in enumerate(plot.groups)]
    for place, group in enumerate(plot.groups):
        y = points.height * (1 - (place + 0.5) / len(plot.groups))
        points.text(-12, y + 7, surface.fit(group.label, names), ha="right")
        points.text(-12, y - 7, surface.fit(group.note, names), ha="right")
    points.name_above(plot.axis, tail=goes_on(is_cut=any(is_cut)), above=26, left=6 - left)
    if plot.differences:
        panel = add_panel(figure, surface, left=surface.n_units - 14 - beside, bottom=BOTTOM, right=14, top=TOP)
        _draw_differences(panel, plot)
    return figure


def _draw_differences(panel: Panel, plot: EstimationPlot) -> None:
    place_of = {group.label: place for place, group in enumerate(plot.groups)}
    estimates = [it.estimate for it in plot.differences if it.estimate is not None]
    ends = [it for row in plot.differences for it in (row.low, row.high) if it is not None]
    panel.axes.set_xlim(*limits([*estimates, 0.0], ends))
    _arrange(panel, len(plot.groups))
    panel.rule(x=0)
    panel.text_at(0, 0, "baseline")
    is_cut = [
        _draw_difference(panel, place_of[it.label], plot.groups[place_of[it.label]].index, it)
        for it in plot.differences
    ]
    name = f"{plot.difference_axis}, to {plot.groups[0].label}"
    panel.name_above(name, tail=goes_on(is_cut=any(is_cut)), above=8)


def _arrange(panel: Panel, n_rows: int) -> None:
    panel.axes.set_ylim(n_rows - 0.5, -0.5)
    panel.axes.set_yticks([])
    panel.axes.spines["left"].set_visible(False)
    panel.ticks_x(5)


def _draw_group(
    panel: Panel, place: int, group: PointGroup, ends: tuple[float | None, float | None], size: float
) -> bool:
    """Points around the line of their row, the mean with a line below them; whether that leaves the panel."""
    if group.values:
        at = panel.to_pixels(np.array(group.values, dtype=float), np.full(len(group.values), place - 0.08))
        unit = panel.surface.unit
        at[:, 1] += aside(at[:, 0], 0.3 * ROW * unit, size * unit)
        panel.points(at, group.index, diameter=size)
    if group.mean is None or len(group.values) < 2:
        return False
    y, is_cut = place + 0.36, False
    low, high = ends
    if low is not None and high is not None:
        is_cut = panel.level(y, low, high, group.index, width=1.6)
    panel.mark(group.mean, y, group.index, diameter=5.5)
    return is_cut


def _draw_difference(panel: Panel, place: int, index: int, difference: PlottedDifference) -> bool:
    """The difference with its interval; whether that leaves the panel."""
    if difference.estimate is None:
        panel.axes.text(0, place, "none", ha="center", va="center")
        return False
    is_cut = False
    if difference.low is not None and difference.high is not None:
        is_cut = panel.level(place, difference.low, difference.high, index)
    panel.mark(difference.estimate, place, index)
    return is_cut
