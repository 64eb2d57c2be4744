"""The estimation plot: every raw point, and beside or below them the difference with its interval.

Source: Gardner & Altman (1986) for two groups, Cumming (2012) for more; Ho et al. (2019) for the combination of raw
points and interval.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures import rows
from deviate.report.figures.panel import Panel, add_panel, few_ticks, new_figure
from deviate.report.figures.paths import Floats
from deviate.report.figures.reach import goes_on, limits, padded
from deviate.report.figures.surface import Surface
from deviate.report.figures.swarm import aside, chains, diameter
from deviate.report.format import MINUS
from deviate.report.plots import EstimationPlot, PlottedDifference, PointGroup

PANEL_HEIGHT, BELOW_HEIGHT = 190, 120
LEFT, RIGHT, NAMES, TOP = 66, 14, 38, 28
NARROWEST = 62
"""Units for each of several groups side by side; where there are fewer, groups are rows."""


def estimation(plot: EstimationPlot, surface: Surface) -> Figure:
    """Gardner-Altman for two experiments, Cumming for more, as rows where they are many, one group alone."""
    if plot.has_shared_axis and plot.groups[0].mean is not None:
        return _gardner_altman(plot, plot.groups[0].mean, plot.differences[0], surface)
    if (surface.n_units - LEFT - RIGHT) / len(plot.groups) < NARROWEST:
        return rows.rows(plot, surface)
    return _cumming(plot, surface) if plot.differences else _points_alone(plot, surface)


def _points_alone(plot: EstimationPlot, surface: Surface) -> Figure:
    figure = new_figure(surface, PANEL_HEIGHT + NAMES + TOP)
    panel = add_panel(figure, surface, left=LEFT, bottom=NAMES, right=RIGHT, top=TOP)
    _scale(panel, plot.groups, ends=())
    panel.axes.set_xlim(-0.5, len(plot.groups) - 0.3)
    is_cut = _draw_groups(panel, plot, draws_interval=True)
    _name_groups(panel, plot.groups)
    panel.name_y(plot.axis, tail=goes_on(is_cut=is_cut))
    return figure


def _gardner_altman(plot: EstimationPlot, origin: float, difference: PlottedDifference, surface: Surface) -> Figure:
    """The axis on the right is the one on the left with its zero at the mean of the baseline."""
    figure = new_figure(surface, PANEL_HEIGHT + NAMES + TOP + 18)
    panel = add_panel(figure, surface, left=LEFT, bottom=NAMES, right=LEFT, top=TOP + 18)
    axes = panel.axes
    ends = [origin + it for it in (difference.low, difference.high, difference.estimate) if it is not None]
    _scale(panel, plot.groups, ends=(*ends, origin))
    axes.set_xlim(-0.5, 2.5)
    low, high = axes.get_ylim()
    twin = axes.twinx()
    twin.set_facecolor("none")
    twin.spines[["top", "left", "bottom"]].set_visible(False)
    twin.tick_params(length=3 * surface.unit, width=0.8 * surface.unit, pad=3.5 * surface.unit)
    scale = Panel(figure, twin, surface, panel.width, panel.height)
    twin.set_ylim(low - origin, high - origin)
    twin.yaxis.set_major_locator(few_ticks(5))
    axes.plot([0, 2.5], [origin, origin], color=surface.ink, linewidth=0.8 * surface.unit, linestyle=(0, (2, 2)))
    other = plot.groups[1]
    if other.mean is not None:
        (line,) = axes.plot([1, 2.5], [other.mean] * 2, color=surface.ink, linewidth=0.8 * surface.unit)
        line.set_linestyle((0, (2, 2)))
        line.set_gid(f"series-{other.index}")
    _draw_groups(panel, plot, draws_interval=False)
    panel.name_y(plot.axis, above=26, width=panel.width + LEFT - 6)
    is_cut = _draw_difference(panel, 2.0, origin, difference, other.index)
    scale.name_y(
        plot.difference_axis, tail=goes_on(is_cut=is_cut), width=surface.n_units - 12, right=panel.width + LEFT - 6
    )
    _name_groups(panel, plot.groups, ("candidate", f"{MINUS} baseline"))
    return figure


def _cumming(plot: EstimationPlot, surface: Surface) -> Figure:
    """Points above, differences to the baseline below, each under its group."""
    figure = new_figure(surface, PANEL_HEIGHT + NAMES + TOP + BELOW_HEIGHT + TOP + 10)
    above = add_panel(figure, surface, left=LEFT, bottom=NAMES + BELOW_HEIGHT + TOP + 10, right=RIGHT, top=TOP)
    below = add_panel(figure, surface, left=LEFT, bottom=10, right=RIGHT, top=TOP + PANEL_HEIGHT + NAMES + TOP)
    _scale(above, plot.groups, ends=())
    for panel in (above, below):
        panel.axes.set_xlim(-0.5, len(plot.groups) - 0.3)
    _draw_groups(above, plot, draws_interval=False)
    _name_groups(above, plot.groups)
    above.name_y(plot.axis)
    estimates = [it.estimate for it in plot.differences if it.estimate is not None]
    ends = [it for row in plot.differences for it in (row.low, row.high) if it is not None]
    below.axes.set_ylim(*limits([*estimates, 0.0], ends))
    below.axes.yaxis.set_major_locator(few_ticks(5))
    below.rule(y=0)
    places = {group.label: place for place, group in enumerate(plot.groups)}
    is_cut = [
        _draw_difference(below, float(places[it.label]), 0.0, it, plot.groups[places[it.label]].index)
        for it in plot.differences
    ]
    below.axes.set_xticks([])
    below.axes.spines["bottom"].set_visible(False)
    tail = goes_on(is_cut=any(is_cut))
    below.name_y(f"{plot.difference_axis}, to {plot.groups[0].label}", tail=tail)
    return figure


def _draw_groups(panel: Panel, plot: EstimationPlot, *, draws_interval: bool) -> bool:
    """Raw points; beside them the mean with its SD, or with its interval; pairs are joined below the points.

    Returns whether an interval leaves the panel.
    """
    size = diameter(max(len(group.values) for group in plot.groups))
    positions = [_swarm(panel, place, group.values, size) for place, group in enumerate(plot.groups)]
    _join_pairs(panel, plot, positions)
    is_cut = False
    for place, (group, at) in enumerate(zip(plot.groups, positions, strict=True)):
        if group.values:
            panel.points(at, group.index, diameter=size)
        if group.mean is None or len(group.values) < 2:
            continue
        x = place + 0.36
        low, high = (group.low, group.high) if draws_interval else group.one_sd
        if low is not None and high is not None:
            is_cut |= panel.upright(x, low, high, group.index, width=1.6)
        panel.mark(x, group.mean, group.index, diameter=5.5)
    return is_cut


def _swarm(panel: Panel, place: int, values: Sequence[float], size: float) -> Floats:
    at = panel.to_pixels(np.full(len(values), float(place)), np.array(values, dtype=float))
    low, high = panel.axes.get_xlim()
    half_width = 0.26 * panel.width * panel.surface.unit / (high - low)
    at[:, 0] += aside(at[:, 1], half_width, size * panel.surface.unit)
    return at


def _join_pairs(panel: Panel, plot: EstimationPlot, positions: Sequence[Floats]) -> None:
    """A thin line through the runs of a pair, through all groups that they are in."""
    known = {it.label: it.pairs for it in plot.differences}
    pairs = [known.get(group.label, ()) for group in plot.groups[1:]]
    joined = [
        np.array([positions[group][place] for group, place in enumerate(chain) if place is not None])
        for chain in chains(pairs)
    ]
    panel.lines([it for it in joined if len(it) > 1], None, width=0.7, alpha=0.4)


def _draw_difference(panel: Panel, x: float, origin: float, difference: PlottedDifference, index: int) -> bool:
    """The difference with its interval; whether that leaves the panel."""
    if difference.estimate is None:
        panel.axes.text(x, origin, "no\ndifference\nto draw", ha="center", va="center")
        return False
    is_cut = False
    if difference.low is not None and difference.high is not None:
        is_cut = panel.upright(x, origin + difference.low, origin + difference.high, index)
    panel.mark(x, origin + difference.estimate, index)
    return is_cut


def _scale(panel: Panel, groups: Sequence[PointGroup], ends: Sequence[float]) -> None:
    """Limits from all points; ends of intervals may widen them, not without bound."""
    values = [value for group in groups for value in group.values]
    reach = [it for group in groups for it in (group.low, group.high, *group.one_sd) if it is not None]
    panel.axes.set_ylim(*limits(values, [*reach, *ends]) if values else padded(min(ends), max(ends)))
    panel.axes.yaxis.set_major_locator(few_ticks(6))


def _name_groups(panel: Panel, groups: Sequence[PointGroup], *more: tuple[str, str]) -> None:
    """Two lines below each group: its name and its n, both as far as they fit."""
    low, high = panel.axes.get_xlim()
    room = panel.width / (high - low)
    panel.axes.set_xticks([])
    for place, lines in enumerate([*((it.label, it.note) for it in groups), *more]):
        for line, text in enumerate(lines):
            panel.text((place - low) * room, -14 - 15 * line, panel.surface.fit(text, room - 6), ha="center")
