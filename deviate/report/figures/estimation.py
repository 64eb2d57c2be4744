"""The estimation plot: every raw point, and beside or below them the difference with its interval.

Source: Gardner & Altman (1986) for two groups, Cumming (2012) for more; Ho et al. (2019) for the combination of raw
points and interval.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from deviate.report.figures.canvas import (
    INK,
    Floats,
    add_axes,
    add_points,
    colour,
    few_ticks,
    figure_style,
    name_axis,
    new_figure,
    svg_text,
    to_pixels,
)
from deviate.report.format import shorten
from deviate.report.view import EstimationPlot, PlottedDifference, PointGroup

HEIGHT = 270
DIAMETER = 5.0
LABEL_LENGTH, NAME_LENGTH = 20, 44


def draw_estimation(plot: EstimationPlot) -> str:
    """The plot as an `<svg>` element: Gardner-Altman for two experiments, Cumming for more, one group alone."""
    with figure_style(plot.key):
        if len(plot.groups) == 2 and len(plot.differences) == 1 and plot.groups[0].mean is not None:
            return _gardner_altman(plot, plot.groups[0].mean, plot.differences[0])
        if plot.differences:
            return _cumming(plot)
        return _points_alone(plot)


def _points_alone(plot: EstimationPlot) -> str:
    figure = new_figure(max(440, 110 * len(plot.groups) + 110), HEIGHT)
    axes = add_axes(figure, left=68, bottom=44, right=16, top=24)
    _limits(axes, plot.groups, extra=())
    axes.set_xlim(-0.5, len(plot.groups) - 0.3)
    _draw_groups(axes, plot.groups, draws_interval=True)
    _name_groups(axes, plot.groups)
    name_axis(axes, plot.axis, NAME_LENGTH)
    return svg_text(figure, plot.key, plot.title, plot.description)


def _gardner_altman(plot: EstimationPlot, origin: float, difference: PlottedDifference) -> str:
    """The axis on the right is the one on the left with its zero at the mean of the baseline."""
    figure = new_figure(440, HEIGHT)
    axes = add_axes(figure, left=68, bottom=44, right=72, top=24)
    reach = [origin + it for it in (difference.low, difference.high, difference.estimate) if it is not None]
    _limits(axes, plot.groups, extra=(*reach, origin))
    axes.set_xlim(-0.5, 2.5)
    _draw_groups(axes, plot.groups, draws_interval=False)
    _name_groups(axes, plot.groups)
    low, high = axes.get_ylim()
    scale = axes.twinx()
    scale.set_facecolor("none")
    scale.spines[["top", "left", "bottom"]].set_visible(False)
    scale.set_ylim(low - origin, high - origin)
    scale.yaxis.set_major_locator(few_ticks(5))
    scale.tick_params(length=3, width=0.8)
    name_axis(axes, plot.axis, NAME_LENGTH)
    name_axis(scale, plot.difference_axis, NAME_LENGTH, is_right=True)
    axes.plot([0, 2.5], [origin, origin], color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
    if plot.groups[1].mean is not None:
        axes.plot([1, 2.5], [plot.groups[1].mean] * 2, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
    _draw_difference(axes, 2.0, origin, difference)
    axes.set_xticks([0, 1, 2], [*_names(plot.groups), "candidate\n− baseline"])
    return svg_text(figure, plot.key, plot.title, plot.description)


def _cumming(plot: EstimationPlot) -> str:
    """Points above, differences to the baseline below, each under its group."""
    width = 110 * len(plot.groups) + 90
    figure = new_figure(width, HEIGHT + 150)
    above = add_axes(figure, left=68, bottom=214, right=16, top=24)
    below = add_axes(figure, left=68, bottom=22, right=16, top=HEIGHT + 14)
    _limits(above, plot.groups, extra=())
    for axes in (above, below):
        axes.set_xlim(-0.5, len(plot.groups) - 0.3)
    _draw_groups(above, plot.groups, draws_interval=False)
    _name_groups(above, plot.groups)
    name_axis(above, plot.axis, NAME_LENGTH)
    reach = [it for row in plot.differences for it in (row.low, row.high, row.estimate, 0.0) if it is not None]
    below.set_ylim(*_padded(min(reach), max(reach)))
    below.axhline(0, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
    labels = [group.label for group in plot.groups]
    for difference in plot.differences:
        _draw_difference(below, float(labels.index(difference.label)), 0.0, difference)
    below.set_xticks([])
    below.spines["bottom"].set_visible(False)
    below.yaxis.set_major_locator(few_ticks(5))
    name_axis(below, f"{plot.difference_axis}, to {labels[0]}", NAME_LENGTH)
    return svg_text(figure, plot.key, plot.title, plot.description)


def _draw_groups(axes: Axes, groups: Sequence[PointGroup], *, draws_interval: bool) -> None:
    """Raw points; beside them the mean with its SD as a gapped line, or with its interval."""
    for index, group in enumerate(groups):
        if group.values:
            add_points(axes, _swarm(axes, index, group.values), colour(index), DIAMETER)
        if group.mean is None or len(group.values) < 2:
            continue
        x = index + 0.36
        low, high = (group.low, group.high) if draws_interval else _one_sd(group)
        if low is not None and high is not None:
            axes.plot([x, x], [low, high], color=INK, linewidth=1.6, solid_capstyle="butt")
        axes.plot([x], [group.mean], marker="o", markersize=5, color=INK, markeredgewidth=0)


def _one_sd(group: PointGroup) -> tuple[float | None, float | None]:
    if group.mean is None or group.sd is None:
        return None, None
    return group.mean - group.sd, group.mean + group.sd


def _draw_difference(axes: Axes, x: float, origin: float, difference: PlottedDifference) -> None:
    if difference.estimate is None:
        axes.text(x, origin, "no\ndifference\nto draw", ha="center", va="center")
        return
    if difference.low is not None and difference.high is not None:
        axes.plot([x, x], [origin + difference.low, origin + difference.high], color=INK, linewidth=2)
    axes.plot([x], [origin + difference.estimate], marker="o", markersize=8, color=INK, markeredgewidth=0)


def _swarm(axes: Axes, index: int, values: Sequence[float]) -> Floats:
    """Positions in pixels: each point at its height, moved aside just so far that it hides no other."""
    heights = to_pixels(axes, np.full(len(values), float(index)), np.array(values, dtype=float))
    half_width = 0.26 * (
        to_pixels(axes, np.array([1.0]), np.zeros(1))[0, 0] - to_pixels(axes, np.zeros(1), np.zeros(1))[0, 0]
    )
    placed: list[tuple[float, float]] = []
    positions = heights.copy()
    for point in np.argsort(heights[:, 1], kind="stable"):
        centre, y = heights[point]
        near = [(x, other) for x, other in placed[-60:] if y - other < DIAMETER]
        offset = next((it for it in _offsets(half_width) if _is_free(centre + it, y, near)), 0.0)
        positions[point, 0] = centre + offset
        placed.append((centre + offset, y))
    return positions


def _offsets(half_width: float) -> list[float]:
    steps = np.arange(0, half_width, DIAMETER / 2)
    return [float(sign * step) for step in steps for sign in ((1, -1) if step else (1,))]


def _is_free(x: float, y: float, near: Sequence[tuple[float, float]]) -> bool:
    return all((x - other_x) ** 2 + (y - other_y) ** 2 >= DIAMETER**2 for other_x, other_y in near)


def _limits(axes: Axes, groups: Sequence[PointGroup], extra: Sequence[float]) -> None:
    reach = [*extra]
    for group in groups:
        reach += [*group.values, *(it for it in (group.low, group.high, *_one_sd(group)) if it is not None)]
    axes.set_ylim(*_padded(min(reach), max(reach)))
    axes.yaxis.set_major_locator(few_ticks(6))


def _padded(low: float, high: float) -> tuple[float, float]:
    """Limits with air; values that are all equal get a window of their own size."""
    span = high - low
    if span <= 1e-12 * max(abs(low), abs(high)):
        span = abs(high) or 1.0
    return low - 0.07 * span, high + 0.07 * span


def _names(groups: Sequence[PointGroup]) -> list[str]:
    return [f"{shorten(group.label, LABEL_LENGTH)}\n{group.note}" for group in groups]


def _name_groups(axes: Axes, groups: Sequence[PointGroup]) -> None:
    axes.set_xticks(range(len(groups)), _names(groups))
    axes.tick_params(axis="x", length=0)
