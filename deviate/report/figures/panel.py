"""Axes on a surface and what is drawn into them: points, lines, bands, names; lengths are in units of the surface.

Lines and points are drawn as few paths in rounded positions, for that halves the text of a page. Each experiment has a
colour and a shape, the same in every figure, so that a print in grey still tells them apart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D, Transform

from deviate.report.figures import paths
from deviate.report.figures.paths import Floats
from deviate.report.figures.reach import within
from deviate.report.figures.surface import Surface, colour

DASHES = (0, (3, 2))


def new_figure(surface: Surface, height: float) -> Figure:
    """A transparent figure as wide as the surface and so many units high; one of its pixels is a point."""
    return Figure(figsize=(surface.width / 72, height * surface.unit / 72), dpi=72, facecolor="none")


def few_ticks(n: int, *, is_whole: bool = False) -> MaxNLocator:
    return MaxNLocator(n, steps=[1, 2, 5, 10] if is_whole else [1, 2, 2.5, 5, 10], integer=is_whole)


@dataclass(frozen=True, slots=True)
class Panel:
    """Axes with a size in units; what is drawn outside of them shows where the panel `is_open`."""

    figure: Figure
    axes: Axes
    surface: Surface
    width: float
    height: float
    is_open: bool = False

    def to_pixels(self, x: Floats, y: Floats) -> Floats:
        """Data to pixels, shape (n, 2); the limits of the axes must be set before."""
        return np.asarray(self.axes.transData.transform(np.column_stack([x, y])), dtype=float)

    def points(self, pixels: Floats, index: int, *, diameter: float = 5.0, alpha: float = 0.75) -> None:
        """The shape of an experiment at pixel positions, shape (n, 2), all in one path."""
        around = paths.corners(index) * diameter * self.surface.unit / 2
        if len(around):
            self._fill(paths.polygons(pixels, around, self.surface.grain), index, colour(index), alpha)
        else:
            self._stroke(paths.dots(pixels, self.surface.grain), index, colour(index), diameter, alpha=alpha)

    def lines(
        self,
        lines: Iterable[Floats],
        index: int | None,
        *,
        width: float,
        alpha: float = 1.0,
        stroke: str = "",
        is_dashed: bool = False,
    ) -> None:
        """Polylines in pixels, each of shape (n, 2), as one path; a NaN breaks a line. Without an index: in ink."""
        path = paths.polylines(lines, self.surface.grain)
        if path is not None:
            drawn = stroke or (self.surface.ink if index is None else colour(index))
            self._stroke(path, index, drawn, width, alpha=alpha, is_dashed=is_dashed)

    def band(self, x: Floats, low: Floats, high: Floats, index: int, *, fill: str = "") -> None:
        """A filled band in pixels between two lines; parts where a side is NaN are left open."""
        path = paths.bands(x, low, high, self.surface.grain)
        if path is not None:
            self._fill(path, index, fill or colour(index), 0.2)

    def patch(self, ends: Floats, index: int, *, height: float, alpha: float) -> None:
        """A rectangle around a level line between two ends in pixels, shape (2, 2), so many units high."""
        half = height * self.surface.unit / 2
        path = paths.bands(ends[:, 0], ends[:, 1] - half, ends[:, 1] + half, self.surface.grain)
        if path is not None:
            self._fill(path, index, colour(index), alpha)

    def upright(self, x: float, low: float, high: float, index: int | None, *, width: float = 2.0) -> bool:
        """An interval of the vertical axis at x, in ink; whether it leaves the panel, which an arrow tells."""
        cut = within(self.axes.get_ylim(), low, high)
        self._straight([x, x], cut, index, width)
        ends = [(it, turn) for it, end, turn in zip(cut, (low, high), (-90, 90), strict=True) if it != end]
        for it, turn in ends:
            self.arrow(x, it, index, turn=turn)
        return bool(ends)

    def level(self, y: float, low: float, high: float, index: int | None, *, width: float = 2.0) -> bool:
        """The same of the horizontal axis at y."""
        cut = within(self.axes.get_xlim(), low, high)
        self._straight(cut, [y, y], index, width)
        ends = [(it, turn) for it, end, turn in zip(cut, (low, high), (180, 0), strict=True) if it != end]
        for it, turn in ends:
            self.arrow(it, y, index, turn=turn)
        return bool(ends)

    def interval(self, x: Sequence[float], y: Sequence[float], index: int | None, *, width: float = 2.0) -> None:
        """A straight line in data, in ink."""
        self._straight(x, y, index, width)

    def mark(self, x: float, y: float, index: int | None, *, diameter: float = 8.0) -> None:
        """One estimate in data, a dot in ink; on the edge of the panel it is whole."""
        at = self.to_pixels(np.array([x], dtype=float), np.array([y], dtype=float))
        # A line of next to no length with round ends.
        self.opened().lines(
            [np.concatenate([at, at + np.array([0.1, 0.0])])], index, width=diameter, stroke=self.surface.ink
        )

    def arrow(self, x: float, y: float, index: int | None, *, turn: float) -> None:
        """The head of an arrow in data, turned by so many degrees from the right: an interval goes on there."""
        at = self.to_pixels(np.array([x], dtype=float), np.array([y], dtype=float))[0]
        self._fill(paths.head((at[0], at[1]), turn, self.surface.unit), index, self.surface.ink, 1.0)

    def opened(self) -> "Panel":
        """The same where what lies outside of the axes shows too."""
        return replace(self, is_open=True)

    def rule(self, *, x: float | None = None, y: float | None = None, is_dashed: bool = True) -> None:
        """A thin line through the whole panel, at x or at y."""
        style = {"color": self.surface.ink, "linewidth": 0.8 * self.surface.unit}
        dashes = {"linestyle": (0, (2, 2))} if is_dashed else {}
        if x is not None:
            self.axes.axvline(x, **style, **dashes)  # type: ignore[arg-type]
        if y is not None:
            self.axes.axhline(y, **style, **dashes)  # type: ignore[arg-type]

    def place(self, x: float, y: float) -> Floats:
        """Pixels of a place so many units right of and above the lower left corner of the axes."""
        corner = self.axes.transAxes.transform((0, 0))
        return np.asarray(corner + np.array([x, y]) * self.surface.unit, dtype=float)

    def text(self, x: float, y: float, text: str, *, ha: str = "left", va: str = "center") -> None:
        """Text at a place so many units right of and above the lower left corner of the axes."""
        at = (x / self.width, y / self.height)
        self.axes.text(*at, text, transform=self.axes.transAxes, ha=ha, va=va, clip_on=False)

    def text_at(self, x: float, y: float, text: str, *, ha: str = "center", va: str = "center") -> None:
        """Text in data, on the ground of the surface so that no line runs through it."""
        ground = {"facecolor": self.surface.ground, "edgecolor": "none", "pad": self.surface.unit}
        self.axes.text(x, y, text, ha=ha, va=va, bbox=ground, linespacing=1.0)

    def name_y(
        self, name: str, *, tail: str = "", above: float = 8.0, width: float | None = None, right: float | None = None
    ) -> None:
        """The name of the vertical axis above it, where a long one has room and needs no turned head.

        The limits must be set before. `tail` is not shortened; `width` in units is how much room there is, that of the
        panel by default; `right` is where the name ends, for an axis on the right.
        """
        told = self._fitted(name, f"{tail}{self._left_out(self.axes.yaxis)}", width)
        y = self.height + above
        self.text(0 if right is None else right, y, told, ha="left" if right is None else "right", va="bottom")

    def name_x(self, name: str, *, tail: str = "", below: float = 22.0, width: float | None = None) -> None:
        """The name of the horizontal axis, below the numbers and at its right end."""
        told = self._fitted(name, f"{tail}{self._left_out(self.axes.xaxis)}", width)
        self.text(self.width, -below, told, ha="right", va="top")

    def name_above(self, name: str, *, above: float, tail: str = "", left: float | None = None) -> None:
        """The name of the horizontal axis above the panel, where those of two panels find room below each other.

        It begins `left` of the panel's lower left corner, or ends with the panel.
        """
        told = self._fitted(name, f"{tail}{self._left_out(self.axes.xaxis)}", self.surface.n_units - 24)
        is_left = left is not None
        x = self.width if left is None else left
        self.text(x, self.height + above, told, ha="left" if is_left else "right", va="bottom")

    def _fitted(self, name: str, tail: str, width: float | None) -> str:
        room = (self.width if width is None else width) - self.surface.text_width(tail)
        return f"{self.surface.fit(name, room)}{tail}"

    def ticks_x(self, n_most: int = 6, *, is_whole: bool = False) -> None:
        """As many numbers on the horizontal axis as have room side by side, but for `n_most`; limits come before."""
        axis = self.axes.xaxis
        low, high = self.axes.get_xlim()
        for n in range(n_most, 0, -1):
            axis.set_major_locator(few_ticks(n, is_whole=is_whole))
            shown = [it for it in axis.get_majorticklocs() if low <= it <= high]
            room = self.width * (shown[1] - shown[0]) / (high - low) if len(shown) > 1 else self.width
            labels = axis.get_major_formatter().format_ticks(list(axis.get_majorticklocs()))
            if max(map(self.surface.text_width, labels)) + 8 <= room:
                return

    def _left_out(self, axis: XAxis | YAxis) -> str:
        """What the numbers of an axis are to be multiplied with or added to.

        It goes with the name of the axis, for matplotlib writes it in the same place.
        """
        formatter = axis.get_major_formatter()
        formatter.set_locs(list(axis.get_majorticklocs()))
        factor, plus, offset = formatter.get_offset().partition("+")
        axis.get_offset_text().set_visible(False)
        return (f" × {factor}" if factor else "") + (f" + {offset}" if plus else "")

    def _straight(self, x: Sequence[float], y: Sequence[float], index: int | None, width: float) -> None:
        at = self.to_pixels(np.array(x, dtype=float), np.array(y, dtype=float))
        self.lines([at], index, width=width, stroke=self.surface.ink)

    def _transform(self) -> Transform:
        """Pixels of a drawing in which one is a point, whatever the resolution it is written in."""
        return Affine2D().scale(1 / 72) + self.figure.dpi_scale_trans

    def _stroke(
        self, path: Path, index: int | None, stroke: str, width: float, *, alpha: float = 1.0, is_dashed: bool = False
    ) -> None:
        patch = PathPatch(path, facecolor="none", edgecolor=stroke, linewidth=width * self.surface.unit, alpha=alpha)
        patch.set_capstyle("round")
        patch.set_linestyle(DASHES if is_dashed else "solid")
        self._add(patch, index)

    def _fill(self, path: Path, index: int | None, fill: str, alpha: float) -> None:
        self._add(PathPatch(path, facecolor=fill, alpha=alpha, linewidth=0), index)

    def _add(self, patch: PathPatch, index: int | None) -> None:
        patch.set_transform(self._transform())
        # Moved to whole pixels, a line of next to no length, which is a dot, would be one of none.
        patch.set_snap(False)
        # What is drawn from values is cut at the window; a legend lies outside on purpose.
        patch.set_clip_on(not self.is_open)
        tell_series(patch, index)
        # Not add_patch: it goes through every vertex to widen limits that are fixed already.
        self.axes.add_artist(patch)


def tell_series(artist: Artist, index: int | None) -> None:
    """What belongs to one experiment says so; the page hides and shows it by that."""
    if index is not None:
        artist.set_gid(f"series-{index}")


def add_panel(figure: Figure, surface: Surface, left: float, bottom: float, right: float, top: float) -> Panel:
    """Axes with the given margins in units: layout that measures all text would be slow."""
    width, height = figure.get_size_inches() * 72 / surface.unit
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height),
        facecolor="none",
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3 * surface.unit, width=0.8 * surface.unit, pad=3.5 * surface.unit)
    return Panel(figure, axes, surface, float(width - left - right), float(height - bottom - top))
