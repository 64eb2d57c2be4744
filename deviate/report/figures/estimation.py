"""The estimation plot: every raw point, and beside or below them the difference with its interval.

Source: Gardner & Altman (1986) for two groups, Cumming (2012) for more, turned by a quarter where names have no room
side by side; Ho et al. (2019) for the combination of raw points and interval; Lewis & Clarke (2001) for spreads in
rows; Koning et al. (2005) for mean ranks with half the critical difference to either side.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from deviate.report.figures.panel import (
    DOTTED,
    Floats,
    Panel,
    add_panel,
    aside,
    axis_limits,
    chains,
    cut_note,
    diameter,
    few_ticks,
    join_lines,
    new_figure,
    new_panel,
    pad_limits,
)
from deviate.report.figures.surface import PAGE, Surface, colour
from deviate.report.format import MINUS
from deviate.report.plots import Ends, EstimationPlot, ForestPlot, PlottedDifference, PointGroup, RankPlot

PANEL_HEIGHT, BELOW_HEIGHT = 190, 120
LEFT, RIGHT, NAMES, TOP = 66, 14, 38, 28
NARROWEST = 62
"""Units for each of several groups side by side; where there are fewer, groups are rows."""
MARGINS = 0.2
"""Groups that would have room in the margins of a panel in which groups stand side by side."""
ROW, LOWEST_ROW, FEW_ROWS, ROWS_TOP, ROWS_BOTTOM, GAP = 40, 30, 12, 30, 26, 22


def draw_estimation(plot: EstimationPlot, surface: Surface) -> Figure:
    """Draw a Gardner-Altman plot for two experiments, a Cumming plot for more (in rows for many), or a single group."""
    if plot.has_shared_axis and plot.groups[0].mean is not None:
        return _gardner_altman(plot, plot.groups[0].mean, plot.differences[0], surface)
    if isinstance(plot, ForestPlot | RankPlot) or not _has_room_side_by_side(plot, surface):
        return _draw_row_plot(plot, surface)
    return _cumming(plot, surface) if plot.differences else _points_alone(plot, surface)


def _has_room_side_by_side(plot: EstimationPlot, surface: Surface) -> bool:
    """Whether all names fit below their groups; one group alone always has room."""
    n = len(plot.groups)
    room = (surface.n_units - LEFT - RIGHT) / (n + MARGINS)
    return n == 1 or (room >= NARROWEST and max(surface.text_width(group.label) for group in plot.groups) <= room - 6)


def _points_alone(plot: EstimationPlot, surface: Surface) -> Figure:
    panel = new_panel(surface, PANEL_HEIGHT, (), left=LEFT, right=RIGHT, below=NAMES)
    _scale(panel, plot.groups, ends=())
    panel.axes.set_xlim(-0.5, len(plot.groups) - 0.5 + MARGINS)
    is_cut = _draw_groups(panel, plot, draws_interval=True)
    _name_groups(panel, plot.groups)
    panel.name_y(plot.axis, tail=cut_note(is_cut=is_cut))
    return panel.figure


def _gardner_altman(plot: EstimationPlot, origin: float, difference: PlottedDifference, surface: Surface) -> Figure:
    """Draw both groups and the difference, whose axis on the right has its zero at the mean of the baseline."""
    both = f"{plot.axis}    {plot.difference_axis}{cut_note(is_cut=True)}"
    rise = 0 if surface.text_width(both) <= surface.n_units - LEFT - 6 else 18
    panel = new_panel(surface, PANEL_HEIGHT, (), left=LEFT, right=LEFT, top=TOP + rise, below=NAMES)
    axes = panel.axes
    shifts = (difference.low, difference.high, difference.estimate)
    ends = [origin + shift for shift in shifts if shift is not None]
    _scale(panel, plot.groups, ends=(*ends, origin))
    axes.set_xlim(-0.5, 2.5)
    low, high = axes.get_ylim()
    scale = replace(panel, axes=axes.twinx())
    scale.clear_frame("top", "left", "bottom")
    scale.axes.set_ylim(low - origin, high - origin)
    scale.axes.yaxis.set_major_locator(few_ticks(5))
    dotted: dict[str, Any] = {"color": surface.ink, "linewidth": 0.8 * surface.unit, "linestyle": DOTTED}
    axes.plot([0, 2.5], [origin] * 2, **dotted)
    other = plot.groups[1]
    if other.mean is not None:
        axes.plot([1, 2.5], [other.mean] * 2, gid=f"series-{other.index}", **dotted)
    _draw_groups(panel, plot, draws_interval=False)
    panel.name_y(plot.axis, above=8 + rise, width=panel.width + LEFT - 6)
    _draw_margin(panel, (1.6, 2.5), difference.margin, origin)
    is_cut = _draw_difference(panel, 2.0, other.index, difference, origin=origin)
    scale.name_y(
        plot.difference_axis, tail=cut_note(is_cut=is_cut), width=surface.n_units - 12, right=panel.width + LEFT - 6
    )
    _name_groups(panel, plot.groups, (other.label, f"{MINUS} {plot.groups[0].label}"))
    return panel.figure


def _cumming(plot: EstimationPlot, surface: Surface) -> Figure:
    """Draw points above, and the differences to the baseline below, each under its group."""
    figure = new_figure(surface, PANEL_HEIGHT + NAMES + TOP + BELOW_HEIGHT + TOP + 10)
    above = add_panel(figure, surface, left=LEFT, bottom=NAMES + BELOW_HEIGHT + TOP + 10, right=RIGHT, top=TOP)
    below = add_panel(figure, surface, left=LEFT, bottom=10, right=RIGHT, top=TOP + PANEL_HEIGHT + NAMES + TOP)
    _scale(above, plot.groups, ends=())
    for panel in (above, below):
        panel.axes.set_xlim(-0.5, len(plot.groups) - 0.5 + MARGINS)
    _draw_groups(above, plot, draws_interval=False)
    _name_groups(above, plot.groups)
    above.name_y(plot.axis)
    below.axes.set_ylim(*_difference_limits(plot))
    below.axes.yaxis.set_major_locator(few_ticks(5))
    below.rule(y=0)
    _draw_margin(below, below.axes.get_xlim(), plot.differences[0].margin)
    is_cut = _draw_differences(below, plot)
    below.axes.set_xticks([])
    below.axes.spines["bottom"].set_visible(False)
    below.name_y(_difference_axis(plot), tail=cut_note(is_cut=is_cut))
    return figure


def _draw_groups(panel: Panel, plot: EstimationPlot, *, draws_interval: bool) -> bool:
    """Draw raw points and, beside them, the mean with its SD or interval; lines between pairs are behind the points.

    Of a group without points, mean and SD are known from elsewhere. Returns whether an interval leaves the panel.
    """
    size = diameter(max(len(group.values) for group in plot.groups))
    positions = [_swarm(panel, place, group.values, size) for place, group in enumerate(plot.groups)]
    _join_pairs(panel, plot, positions)
    is_cut = False
    for place, (group, at) in enumerate(zip(plot.groups, positions, strict=True)):
        if group.values:
            panel.points_at(at, group.index, diameter=size)
            if panel.surface is PAGE:  # nothing points at a figure of a paper
                panel.name_points(at, place, len(group.names))
        if group.mean is None or len(group.values) == 1:
            continue
        x, stroke = place + 0.36, colour(group.index)
        low, high = (group.low, group.high) if draws_interval else group.one_sd
        if low is not None and high is not None:
            is_cut |= panel.interval(x, low, high, group.index, width=1.6, stroke=stroke)
        panel.mark(x, group.mean, group.index, diameter=6.5, stroke=stroke)
    return is_cut


def _draw_margin(panel: Panel, span: tuple[float, float], margin: float | None, origin: float = 0.0) -> None:
    """Draw the differences that do not matter as a band around none."""
    if margin is not None:
        x, ends = np.array(span), np.array([margin, margin])
        panel.axes.fill_between(x, origin - ends, origin + ends, facecolor=panel.surface.ink, alpha=0.08, linewidth=0)


def _swarm(panel: Panel, place: int, values: Sequence[float], size: float) -> Floats:
    at = panel.to_pixels(np.full(len(values), float(place)), np.array(values, dtype=float))
    low, high = panel.axes.get_xlim()
    half_width = 0.26 * panel.width * panel.surface.unit / (high - low)
    at[:, 0] += aside(at[:, 1], half_width, size * panel.surface.unit)
    return at


def _join_pairs(panel: Panel, plot: EstimationPlot, positions: Sequence[Floats]) -> None:
    """Draw a thin line through the runs of each pair, across all groups that contain them."""
    pairs_of = {difference.label: difference.pairs for difference in plot.differences}
    joined = [
        np.array([positions[group][place] for group, place in enumerate(chain) if place is not None])
        for chain in chains([pairs_of.get(group.label, ()) for group in plot.groups[1:]])
    ]
    lines = [panel.axes.transData.inverted().transform(pixels).T for pixels in joined if len(pixels) > 1]
    panel.line(*join_lines((x, y) for x, y in lines), None, width=0.7, alpha=0.4)


def _draw_differences(panel: Panel, plot: EstimationPlot, *, is_row: bool = False) -> bool:
    """Each at the place of its group; whether an interval leaves the panel."""
    places = {group.label: (place, group.index) for place, group in enumerate(plot.groups)}
    is_cut = [_draw_difference(panel, *places[one.label], one, is_row=is_row) for one in plot.differences]
    return any(is_cut)


def _draw_difference(
    panel: Panel, place: float, index: int, difference: PlottedDifference, *, origin: float = 0.0, is_row: bool = False
) -> bool:
    """The difference with its interval, from `origin` upwards or to the right; whether that leaves the panel."""
    if difference.estimate is None:
        at, text = ((origin, place), "none") if is_row else ((place, origin), "no\ndifference\nto draw")
        panel.axes.text(*at, text, ha="center", va="center")
        return False
    is_cut, estimate = False, origin + difference.estimate
    if difference.low is not None and difference.high is not None:
        ends = origin + difference.low, origin + difference.high
        if difference.df is not None and not is_row:
            panel.half_violin(place, estimate, ends, difference.df, difference.confidence, index)
        is_cut = panel.interval(place, *ends, index, width=3.0, is_level=is_row)
    panel.mark(*((estimate, place) if is_row else (place, estimate)), index)
    return is_cut


def _scale(panel: Panel, groups: Sequence[PointGroup], ends: Sequence[float]) -> None:
    """Axis limits from all points; ends of intervals can extend them, up to a bound."""
    values = [value for group in groups for value in group.values]
    reach = [end for group in groups for end in (group.low, group.high, *group.one_sd) if end is not None]
    panel.axes.set_ylim(*axis_limits(values, [*reach, *ends]) if values else pad_limits(min(ends), max(ends)))
    panel.axes.yaxis.set_major_locator(few_ticks(6))


def _name_groups(panel: Panel, groups: Sequence[PointGroup], *more: tuple[str, str]) -> None:
    """Label each group with its name and its n on two lines, truncated to fit."""
    low, high = panel.axes.get_xlim()
    room = panel.width / (high - low)
    panel.axes.set_xticks([])
    for place, lines in enumerate([*((group.label, group.note) for group in groups), *more]):
        for line, text in enumerate(lines):
            panel.text((place - low) * room, -14 - 15 * line, panel.surface.fit(text, room - 6), ha="center")


def _difference_limits(plot: EstimationPlot) -> tuple[float, float]:
    estimates = [difference.estimate for difference in plot.differences if difference.estimate is not None]
    return axis_limits([*estimates, 0.0], _difference_ends(plot))


def _difference_ends(plot: EstimationPlot) -> list[float]:
    return [end for difference in plot.differences for end in (difference.low, difference.high) if end is not None]


def _leaves(limits: tuple[float, float], ends: Sequence[float]) -> bool:
    """Whether one of the intervals goes on beyond the axis."""
    return any(not limits[0] <= end <= limits[1] for end in ends)


def _draw_row_plot(plot: EstimationPlot, surface: Surface) -> Figure:
    """Draw a row per experiment; without differences, points have the full width."""
    names = min(130.0, 0.28 * surface.n_units)
    beside = 0.3 * surface.n_units if plot.differences else 0.0
    n = len(plot.groups)
    height = ROW if n <= FEW_ROWS else LOWEST_ROW
    values = [value for group in plot.groups for value in (*group.values, group.mean) if value is not None]
    drawn = {group.label: group.one_sd if plot.differences else (group.low, group.high) for group in plot.groups}
    ends = [end for pair in drawn.values() for end in pair if end is not None]
    limits = axis_limits(values, ends)
    tail, difference_tail = cut_note(is_cut=_leaves(limits, ends)), ""
    if plot.differences:
        difference_tail = cut_note(is_cut=_leaves(_difference_limits(plot), _difference_ends(plot)))
    both = f"{plot.axis}{tail}    {_difference_axis(plot)}{difference_tail}"
    rise = 18 if plot.differences and surface.text_width(both) > surface.n_units - 20 else 0
    figure = new_figure(surface, height * n + ROWS_TOP + rise + ROWS_BOTTOM)
    left, right = names + 12, 14 + (beside + GAP if beside else 0)
    points = add_panel(figure, surface, left=left, bottom=ROWS_BOTTOM, right=right, top=ROWS_TOP + rise)
    points.axes.set_xlim(*limits)
    points.arrange_rows(n)
    points.ticks_x(5)
    if plot.reference is not None:
        points.rule(x=plot.reference)
    size = diameter(max(len(group.values) for group in plot.groups))
    for place, group in enumerate(plot.groups):
        _draw_row(points, place, group, drawn[group.label], size, 0.3 * height)
    for place, group in enumerate(plot.groups):
        points.name_row(place, n, [group.label, group.note], gap=12, width=names)
        if group.remark:
            points.text_at(limits[0], place, surface.wrap(group.remark, points.width - 8), ha="left")
    points.name_above(plot.axis, tail=tail, above=8 + rise, left=6 - left)
    if plot.differences:
        beside_left = surface.n_units - 14 - beside
        panel = add_panel(figure, surface, left=beside_left, bottom=ROWS_BOTTOM, right=14, top=ROWS_TOP + rise)
        _draw_difference_rows(panel, plot, difference_tail)
    return figure


def _draw_difference_rows(panel: Panel, plot: EstimationPlot, tail: str) -> None:
    panel.axes.set_xlim(*_difference_limits(plot))
    panel.arrange_rows(len(plot.groups))
    panel.ticks_x(5)
    panel.rule(x=0)
    panel.text_at(0, 0, "baseline")
    _draw_differences(panel, plot, is_row=True)
    panel.name_above(_difference_axis(plot), tail=tail, above=8)


def _difference_axis(plot: EstimationPlot) -> str:
    return f"{plot.difference_axis}, to {plot.groups[0].label}"


def _draw_row(panel: Panel, place: int, group: PointGroup, ends: Ends, size: float, height: float) -> None:
    """Draw the points of a row and their mean below."""
    if group.values:
        panel.swarm(group.values, place - 0.08, group.index, height=height, diameter=size)
    if group.mean is None or len(group.values) == 1:
        return
    y = place + (0.36 if group.values else 0)
    low, high = ends
    if low is not None and high is not None:
        panel.interval(y, low, high, group.index, width=1.6, is_level=True)
    panel.mark(group.mean, y, group.index, diameter=5.5)
