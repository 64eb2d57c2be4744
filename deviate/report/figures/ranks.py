"""The critical-difference diagram: mean ranks of experiments over tasks, and bars over those not told apart.

Source: Demšar (2006), figure 1.
"""

from matplotlib.axes import Axes

from deviate.report.figures.canvas import INK, add_axes, figure_style, new_figure, svg_text
from deviate.report.format import shorten
from deviate.report.view import RankPlot

WIDTH, LEFT, RIGHT = 600, 175, 425
AXIS_Y, BAR_HEIGHT, ROW_HEIGHT = 78, 11, 22
LABEL_LENGTH = 22


def draw_ranks(plot: RankPlot) -> str:
    """The diagram as an `<svg>` element: the best at the left, names on both sides below the axis."""
    n = len(plot.ranks)
    first_row = AXIS_Y + 18 + BAR_HEIGHT * len(plot.cliques)
    height = first_row + ROW_HEIGHT * ((n + 1) // 2) + 6
    with figure_style(plot.key):
        figure = new_figure(WIDTH, height)
        axes = add_axes(figure, left=0, bottom=0, right=0, top=0)
        # Coordinates are pixels from the top left: all there is are lines and names at set distances.
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(height, 0)
        axes.set_axis_off()
        _draw_scale(axes, n, plot)
        for index, (low, high) in enumerate(plot.cliques):
            y = AXIS_Y + 12 + BAR_HEIGHT * index
            _line(axes, [_x(low, n) - 4, _x(high, n) + 4], [y, y], width=4)
        for index, (label, text, rank) in enumerate(plot.ranks):
            _draw_name(axes, index, n, f"{shorten(label, LABEL_LENGTH)}  {text}", rank, first_row)
        return svg_text(figure, plot.key, plot.title, plot.description)


def _draw_scale(axes: Axes, n: int, plot: RankPlot) -> None:
    _line(axes, [LEFT, RIGHT], [AXIS_Y, AXIS_Y], width=1)
    # Whole ranks, and no more of them than have room for their number.
    for rank in range(1, n + 1, max(1, -(-n // 12))):
        _line(axes, [_x(rank, n)] * 2, [AXIS_Y - 5, AXIS_Y], width=1)
        axes.text(_x(rank, n), AXIS_Y - 8, str(rank), ha="center", va="bottom")
    axes.text(WIDTH / 2, 10, plot.note, ha="center", va="center")
    length = plot.difference * (RIGHT - LEFT) / (n - 1)
    begin = max(6.0, min(float(LEFT), (WIDTH - length) / 2))
    end = min(begin + length, WIDTH - 6.0)
    goes_on = begin + length > end
    for x in [begin] if goes_on else [begin, end]:
        _line(axes, [x, x], [40, 48], width=1)
    _line(axes, [begin, end], [44, 44], width=2)
    label = f"{plot.difference_label}{', longer than the scale' if goes_on else ''}"
    axes.text(begin, 38, label, ha="left", va="bottom")


def _draw_name(axes: Axes, index: int, n: int, label: str, rank: float, first_row: int) -> None:
    """The better half at the left, the best on top; the others at the right, the worst on top: no lines cross."""
    n_left = (n + 1) // 2
    is_left = index < n_left
    row = index if is_left else n - 1 - index
    y = first_row + ROW_HEIGHT * row + 8
    side = LEFT - 16 if is_left else RIGHT + 16
    _line(axes, [_x(rank, n), _x(rank, n), side], [AXIS_Y, y, y], width=0.8)
    axes.text(side - 5 if is_left else side + 5, y, label, ha="right" if is_left else "left", va="center")


def _x(rank: float, n: int) -> float:
    return LEFT + (rank - 1) * (RIGHT - LEFT) / (n - 1)


def _line(axes: Axes, x: list[float], y: list[float], *, width: float) -> None:
    axes.plot(x, y, color=INK, linewidth=width, solid_capstyle="butt")
