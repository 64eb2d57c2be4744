"""Axes on a surface and what is drawn into them: points, lines, bands, names; lengths are in units of the surface.

Lines and points are drawn as few paths in rounded positions, for that halves the text of a page. Each experiment has a
colour and a shape, the same in every figure, so that a print in grey still tells them apart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D, Transform
from numpy.typing import NDArray

from deviate.report.figures.surface import Surface, colour

Floats = NDArray[np.float64]

SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),  # a round dot
    ((0, 1.2), (1.1, -0.75), (-1.1, -0.75)),
    ((0.9, 0.9), (0.9, -0.9), (-0.9, -0.9), (-0.9, 0.9)),
    ((0, 1.3), (1.0, 0), (0, -1.3), (-1.0, 0)),
    ((0, -1.2), (-1.1, 0.75), (1.1, 0.75)),
    ((-1.2, 0), (0.75, 1.1), (0.75, -1.1)),
    ((1.2, 0), (-0.75, -1.1), (-0.75, 1.1)),
)
"""Corners in radii. One more than there are colours, so that the seventh experiment differs from the first."""

DASHES = (0, (3, 2))


def new_figure(surface: Surface, height: float) -> Figure:
    """A transparent figure as wide as the surface and so many units high; one of its pixels is a point."""
    return Figure(figsize=(surface.width / 72, height * surface.unit / 72), dpi=72, facecolor="none")


def few_ticks(n: int) -> MaxNLocator:
    return MaxNLocator(n, steps=[1, 2, 2.5, 5, 10])


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

    def points(self, pixels: Floats, index: int, *, diameter: float = 5.0, fill: str = "", alpha: float = 0.75) -> None:
        """The shape of an experiment at pixel positions, shape (n, 2), all in one path."""
        centres = self._rounded(pixels)
        radius = diameter * self.surface.unit / 2
        corners = np.array(SHAPES[index % len(SHAPES)], dtype=float).reshape(-1, 2)
        if len(corners):
            ring = np.concatenate([corners, corners[:1]]) * radius
            vertices = self._rounded(centres[:, None, :] + ring).reshape(-1, 2)
            code = [Path.MOVETO, *[Path.LINETO] * (len(corners) - 1), Path.CLOSEPOLY]
            path = Path(vertices, np.tile(code, len(centres)))
            self._add(path, index, facecolor=fill or colour(index), alpha=alpha, linewidth=0)
            return
        # A line of no length with round ends; one of exactly none is dropped by some renderers.
        vertices = np.stack([centres, centres + np.array([0.1, 0.0])], axis=1).reshape(-1, 2)
        path = Path(vertices, np.tile([Path.MOVETO, Path.LINETO], len(centres)))
        self._stroke(path, index, fill or colour(index), diameter, alpha=alpha)

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
        """Polylines in pixels, each of shape (n, 2), as one path; a NaN breaks a line."""
        parts: list[Floats] = []
        codes: list[NDArray[np.uint8]] = []
        for line in lines:
            is_there = np.asarray(np.isfinite(line).all(axis=1))
            begins = is_there & ~np.concatenate([[False], is_there[:-1]])
            code = np.where(begins, Path.MOVETO, Path.LINETO).astype(np.uint8)
            parts.append(self._rounded(line[is_there]))
            codes.append(code[is_there])
        if not sum(map(len, parts)):
            return
        path = Path(np.concatenate(parts), np.concatenate(codes))
        self._stroke(path, index, stroke or self._colour(index), width, alpha=alpha, is_dashed=is_dashed)

    def band(self, x: Floats, low: Floats, high: Floats, index: int, *, fill: str = "") -> None:
        """A filled band in pixels between two lines; parts where a side is NaN are left open."""
        vertices: list[Floats] = []
        codes: list[int] = []
        is_there = np.isfinite(low) & np.isfinite(high)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], is_there, [False]]).astype(int)))
        for begin, end in edges.reshape(-1, 2):
            there = slice(begin, end)
            up, down = np.column_stack([x[there], low[there]]), np.column_stack([x[there], high[there]])
            ring = self._rounded(np.concatenate([up, down[::-1], up[:1]]))
            vertices.append(ring)
            codes += [int(Path.MOVETO), *[int(Path.LINETO)] * (len(ring) - 2), int(Path.CLOSEPOLY)]
        if vertices:
            path = Path(np.concatenate(vertices), codes)
            self._add(path, index, facecolor=fill or colour(index), alpha=0.2, linewidth=0)

    def interval(self, x: Sequence[float], y: Sequence[float], index: int | None, *, width: float = 2.0) -> None:
        """A straight line in data, in ink: an interval, or a mean with its SD."""
        self.lines(
            [self.to_pixels(np.array(x, dtype=float), np.array(y, dtype=float))],
            index,
            width=width,
            stroke=self.surface.ink,
        )

    def mark(self, x: float, y: float, index: int | None, *, diameter: float = 8.0) -> None:
        """One estimate in data, a dot in ink."""
        at = self.to_pixels(np.array([x], dtype=float), np.array([y], dtype=float))
        vertices = np.concatenate([at, at + np.array([0.1, 0.0])])
        self._stroke(Path(self._rounded(vertices)), index, self.surface.ink, diameter)

    def arrow(self, x: float, y: float, index: int | None, *, turn: float) -> None:
        """The head of an arrow in data, pointing right and turned by so many degrees: an interval goes on there."""
        corners = np.array([(5.0, 0.0), (-3.0, 3.6), (-3.0, -3.6), (5.0, 0.0)]) * self.surface.unit
        at = self.to_pixels(np.array([x], dtype=float), np.array([y], dtype=float))
        ring = Affine2D().rotate_deg(turn).transform(corners) + at
        path = Path(ring, [Path.MOVETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY])
        self._add(path, index, facecolor=self.surface.ink, linewidth=0)

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
        self.axes.text(x, y, text, ha=ha, va=va, bbox=ground)

    def name_y(self, name: str, *, above: float = 8.0, width: float | None = None, right: float | None = None) -> None:
        """The name of the vertical axis above it, where a long one has room and needs no turned head.

        The limits must be set before. `width` in units is how much room there is, that of the panel by default; `right`
        is where the name ends, for an axis on the right.
        """
        tail = self._left_out(self.axes.yaxis)
        room = (self.width if width is None else width) - self.surface.text_width(tail)
        told = f"{self.surface.fit(name, room)}{tail}"
        y = self.height + above
        self.text(0 if right is None else right, y, told, ha="left" if right is None else "right", va="bottom")

    def name_x(self, name: str, *, below: float = 20.0, width: float | None = None) -> None:
        """The name of the horizontal axis, below the numbers and at its right end."""
        tail = self._left_out(self.axes.xaxis)
        room = (self.width if width is None else width) - self.surface.text_width(tail)
        self.text(self.width, -below, f"{self.surface.fit(name, room)}{tail}", ha="right", va="top")

    def ticks_x(self, n_most: int = 6) -> None:
        """As many numbers on the horizontal axis as have room side by side, no more than that; limits come before."""
        axis = self.axes.xaxis
        low, high = self.axes.get_xlim()
        for n in range(n_most, 0, -1):
            axis.set_major_locator(few_ticks(n))
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

    def _colour(self, index: int | None) -> str:
        return self.surface.ink if index is None else colour(index)

    def _rounded(self, pixels: Floats) -> Floats:
        return np.round(np.asarray(pixels, dtype=float), self.surface.grain)

    def _transform(self) -> Transform:
        """Pixels of a drawing in which one is a point, whatever the resolution it is written in."""
        return Affine2D().scale(1 / 72) + self.figure.dpi_scale_trans

    def _stroke(
        self, path: Path, index: int | None, stroke: str, width: float, *, alpha: float = 1.0, is_dashed: bool = False
    ) -> None:
        self._add(
            path,
            index,
            facecolor="none",
            edgecolor=stroke,
            linewidth=width * self.surface.unit,
            alpha=alpha,
            capstyle="round",
            linestyle=DASHES if is_dashed else "solid",
        )

    def _add(self, path: Path, index: int | None, **looks: object) -> None:
        # What leaves the window is cut where it is drawn from values; a legend lies outside on purpose.
        patch = PathPatch(path, transform=self._transform(), clip_on=not self.is_open, **looks)
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
