"""Mean ranks of experiments over several tasks, with bars over those that are not told apart.

Source: Demšar (2006), figure 1, for the critical-difference diagram; its names stand in rows as wide as the figure, so
that they need no second column.
"""

import math

from matplotlib.figure import Figure

from deviate.report.figures.panel import Panel, add_panel, new_figure
from deviate.report.figures.surface import Surface
from deviate.report.plots import RankPlot

SIDE, HEAD, BAR, ROW, FOOT = 14, 84, 10, 20, 8


def draw_ranks(plot: RankPlot, surface: Surface) -> Figure:
    """Draw the diagram, best rank at the left; the better half is named at the left, the others at the right."""
    n = len(plot.ranks)
    height = HEAD + BAR * len(plot.cliques) + 16 + ROW * ((n + 1) // 2) + FOOT
    figure = new_figure(surface, height)
    panel = add_panel(figure, surface, left=0, bottom=0, right=0, top=0)
    scale = _RankScale(panel, plot, height)
    # Coordinates are units from the top left: all there is are lines and names at set distances.
    panel.axes.set_xlim(0, surface.n_units)
    panel.axes.set_ylim(height, 0)
    panel.axes.set_axis_off()
    _draw_rank_scale(scale, plot)
    for index, (low, high) in enumerate(plot.cliques):
        y = HEAD + 9 + BAR * index
        scale.panel.line([scale.x(low) - 4, scale.x(high) + 4], [y, y], None, width=4)
    for index, (label, text, rank) in enumerate(plot.ranks):
        _draw_name(scale, index, label, text, rank, HEAD + BAR * len(plot.cliques) + 14)
    return figure


class _RankScale:
    """Converts ranks to units from the left."""

    def __init__(self, panel: Panel, plot: RankPlot, height: float) -> None:
        self.panel, self.n, self.height = panel, len(plot.ranks), height
        self.width = panel.surface.n_units
        # Rounded up: the width of a whole is not to the last bit the sum of those of its parts.
        longest = math.ceil(max(panel.surface.text_width(f"{label}  {text}") for label, text, _ in plot.ranks))
        # The scale has what names leave, and never less than a quarter.
        self.left = min(max(0.15 * self.width, longest + 17 + SIDE / 2), 0.375 * self.width)
        self.right = self.width - self.left

    def x(self, rank: float) -> float:
        return self.left + (rank - 1) * (self.right - self.left) / (self.n - 1)

    def text(self, x: float, y: float, text: str, *, ha: str = "left", va: str = "center") -> None:
        self.panel.text(x, self.height - y, text, ha=ha, va=va)


def _draw_rank_scale(scale: _RankScale, plot: RankPlot) -> None:
    n, width, surface = scale.n, scale.width, scale.panel.surface
    scale.panel.line([scale.left, scale.right], [HEAD, HEAD], None, width=1)
    # Whole ranks, and no more of them than have room for their number.
    for rank in range(1, n + 1, max(1, -(-n // 10))):
        scale.panel.line([scale.x(rank)] * 2, [HEAD - 5, HEAD], None, width=1)
        scale.text(scale.x(rank), HEAD - 7, str(rank), ha="center", va="bottom")
    scale.text(width / 2, 10, surface.fit(plot.note, width - 2 * SIDE), ha="center")
    length = plot.difference * (scale.right - scale.left) / (n - 1)
    begin = max(float(SIDE), min(scale.left, (width - length) / 2))
    end = min(begin + length, width - SIDE)
    goes_on = begin + length > end + 0.5
    for x in [begin] if goes_on else [begin, end]:
        scale.panel.line([x, x], [46, 54], None, width=1)
    scale.panel.line([begin, end], [50, 50], None, width=2)
    label = f"{plot.difference_label}{', longer than the scale' if goes_on else ''}"
    fitted = surface.fit(label, width - 2 * SIDE)
    x = min(begin, width - SIDE - surface.text_width(fitted))
    scale.text(x, 43, fitted, va="bottom")


def _draw_name(scale: _RankScale, index: int, label: str, text: str, rank: float, first_row: float) -> None:
    """Draw a name: the better half at the left, best on top; others at the right, worst on top; no lines cross."""
    n_left = (scale.n + 1) // 2
    is_left = index < n_left
    y = first_row + ROW * ((index if is_left else scale.n - 1 - index) + 0.5)
    surface = scale.panel.surface
    edge = scale.left - 12 if is_left else scale.right + 12
    room = edge - 5 - SIDE / 2 if is_left else scale.width - SIDE / 2 - edge - 5
    tail = f"  {text}"
    name = f"{surface.fit(label, room - surface.text_width(tail))}{tail}"
    scale.panel.line([scale.x(rank), scale.x(rank), edge], [HEAD, y, y], None, width=0.8)
    scale.text(edge - 5 if is_left else edge + 5, y, name, ha="right" if is_left else "left")
