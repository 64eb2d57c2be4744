"""Axes on a surface, and functions to draw points, lines, bands and names into them; lengths are in surface units.

matplotlib draws everything, with two restrictions that keep pages small: coordinates are rounded, and all marks of one
experiment form one SVG element, whereas a marker of matplotlib is one element per point. Each experiment has a colour
and a marker shape, equal in all figures, so that greyscale prints stay readable.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import Affine2D, Transform
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from deviate.report.figures.surface import PALETTE, Surface, colour

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
"""Corners in radii, by the place of the experiment. One more than there are colours, so that the seventh experiment
differs from the first."""
ARROW = np.array([(5.0, 0.0), (-3.0, 3.6), (-3.0, -3.6)])
"""Corners in units of a head that points right."""
VIOLIN = 0.42
"""Width of half a violin at its widest, where groups are 1 apart."""
DASHED, DOTTED = (0, (3, 2)), (0, (2, 2))
LEGEND_ROW, LEGEND_KEY, LEGEND_GAP = 18.0, 26.0, 16.0
"""Units of a row of names, of the stroke before a name, and between two names."""
LINE, BESIDE_KEY, BESIDE_GAP, WIDEST_BESIDE = 14.0, 17.0, 3.0, 0.27
"""Units of a line of text beside a panel, of the marker before it, and between names; the largest share of the surface
that names beside a panel may take."""


class _Rounding(Transform):
    """Rounds coordinates to a number of decimals; matplotlib writes six, which would double the size of a page."""

    input_dims = output_dims = 2

    def __init__(self, decimals: int) -> None:
        super().__init__()
        self.decimals = decimals

    def transform_non_affine(self, values: ArrayLike) -> Floats:
        return np.round(np.asarray(values, dtype=float), self.decimals)


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One experiment in a legend: its index in the report, its name, and a suffix that is never truncated."""

    index: int
    label: str
    note: str = ""
    is_dashed: bool = False


Name = tuple[LegendEntry, str, float, int]
"""An entry placed in the legend: its text, its horizontal offset in units, and its row from 0."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Axes with a size in units; `left` and `below` are the margins for axis names and the legend."""

    figure: Figure
    axes: Axes
    surface: Surface
    width: float
    height: float
    left: float
    below: float = 0.0
    names: tuple[Name, ...] = ()

    def to_pixels(self, x: Floats | Sequence[float], y: Floats | Sequence[float]) -> Floats:
        """Convert data coordinates to pixels, shape (n, 2); axis limits must be set before."""
        return np.asarray(self.axes.transData.transform(np.column_stack([x, y])), dtype=float)

    def to_units(self, x: float, y: float) -> tuple[float, float]:
        """Convert data coordinates to units from the lower left corner of the axes."""
        across, up = self.axes.transAxes.inverted().transform(self.axes.transData.transform((x, y)))
        return float(across) * self.width, float(up) * self.height

    def points(self, x: Floats | Sequence[float], y: Floats | Sequence[float], index: int, *, diameter: float) -> None:
        """Draw the marker of an experiment at data coordinates; non-finite points are skipped."""
        pixels = self.to_pixels(x, y)
        pixels = pixels[np.isfinite(pixels).all(axis=1)]
        if len(pixels):
            self.points_at(pixels, index, diameter=diameter, alpha=1.0)

    def points_at(
        self, pixels: Floats, index: int, *, diameter: float, alpha: float = 0.75, is_clipped: bool = True
    ) -> None:
        """Draw the marker of an experiment at pixel coordinates, shape (n, 2), all in one path."""
        corners = np.array(SHAPES[index % len(SHAPES)], dtype=float)
        unit, grain = self.surface.unit, self.surface.grain
        if len(corners):
            path = _polygons(pixels, corners * diameter * unit / 2, grain)
            self._add_path(path, index, is_clipped=is_clipped, facecolor=colour(index), alpha=alpha, linewidth=0)
        else:
            self._add_dots(pixels, index, diameter, is_clipped=is_clipped, edgecolor=colour(index), alpha=alpha)

    def swarm(self, values: Sequence[float], y: float, index: int, *, height: float, diameter: float) -> None:
        """Draw raw points along a row at y, shifted by at most `height` so that none hides another."""
        pixels, unit = self.to_pixels(values, np.full(len(values), y)), self.surface.unit
        pixels[:, 1] += aside(pixels[:, 0], height * unit, diameter * unit)
        self.points_at(pixels, index, diameter=diameter)

    def line(
        self,
        x: Floats | Sequence[float],
        y: Floats | Sequence[float],
        index: int | None,
        *,
        width: float,
        alpha: float = 1.0,
        stroke: str = "",
        is_dashed: bool = False,
        scale: Transform | None = None,
    ) -> None:
        """Draw a line in data coordinates, broken at NaN; in ink colour unless an index or a stroke colour is given.

        With a `scale`, coordinates are transformed by it, and the line is not clipped to the axes (for legends).
        """
        if not np.isfinite(y).any():
            return
        line = Line2D(x, y, linewidth=width * self.surface.unit, alpha=alpha, zorder=1)
        line.set_color(stroke or (self.surface.ink if index is None else colour(index)))
        line.set_linestyle(DASHED if is_dashed else "solid")
        line.set_solid_capstyle("round")
        line.set_dash_capstyle("round")
        line.set_transform((scale or self.axes.transData) + _Rounding(self.surface.grain))
        self._add(line, index, is_clipped=scale is None)

    def band(self, x: Floats, low: Floats, high: Floats, index: int, *, fill: str = "") -> None:
        """Draw a filled band between two lines in data coordinates, with gaps where either is NaN."""
        is_known = np.isfinite(low) & np.isfinite(high)
        if is_known.any():
            band = self.axes.fill_between(
                x, low, high, where=is_known.tolist(), facecolor=fill or colour(index), alpha=0.2, linewidth=0
            )
            band.set_transform(self.axes.transData + _Rounding(self.surface.grain))
            name_series(band, index)

    def interval(
        self,
        at: float,
        low: float,
        high: float,
        index: int | None,
        *,
        width: float = 2.0,
        is_level: bool = False,
        stroke: str = "",
    ) -> bool:
        """Draw an interval, upright at x or level at y, in ink unless a colour is given.

        Returns whether it exceeds the panel, as an arrow indicates.
        """
        window, turns = (self.axes.get_xlim(), (180, 0)) if is_level else (self.axes.get_ylim(), (-90, 90))
        ends = clip_interval(window, low, high)
        places = [(end, at) if is_level else (at, end) for end in ends]
        x, y = np.array(places).T
        self.line(x, y, index, width=width, stroke=stroke or self.surface.ink)
        for place, end, whole, turn in zip(places, ends, (low, high), turns, strict=True):
            if end != whole:
                self._arrow(*place, index, turn)
        return ends != (low, high)

    def mark(self, x: float, y: float, index: int | None, *, diameter: float = 8.0, stroke: str = "") -> None:
        """Draw an estimate as a dot, in ink unless a colour is given; it is not clipped at the edge of the panel."""
        edge = stroke or self.surface.ink
        self._add_dots(self.to_pixels([x], [y]), index, diameter, is_clipped=False, edgecolor=edge)

    def name_points(self, pixels: Floats, group: int, n: int) -> None:
        """Lay an unseen dot over each of the first points, by whose id a page finds where to write its name."""
        for place, (x, y) in enumerate(self.axes.transData.inverted().transform(pixels[:n])):
            self.axes.plot([x], [y], marker="o", markersize=8 * self.surface.unit, alpha=0, gid=f"run-{group}-{place}")

    def half_violin(
        self, at: float, estimate: float, ends: tuple[float, float], df: float, confidence: float, index: int
    ) -> None:
        """Draw right of x how plausible other values are: a t density whose central part is the interval.

        Each half is scaled to its own end, as the interval of two tests is not symmetric.
        """
        reach = np.linspace(-1.6, 1.6, 81)
        z = reach * stdtrit(df, (1 + confidence) / 2)
        density = (1 + z**2 / df) ** (-(df + 1) / 2)
        low, high = estimate - ends[0], ends[1] - estimate
        y = estimate + np.where(reach < 0, low, high) * reach
        violin = self.axes.fill_betweenx(y, at, at + VIOLIN * density, facecolor=colour(index), alpha=0.25, linewidth=0)
        violin.set_transform(self.axes.transData + _Rounding(self.surface.grain))
        name_series(violin, index)

    def rule(self, *, x: float | None = None, y: float | None = None, is_dashed: bool = True) -> None:
        """Draw a thin line across the panel, at x or at y."""
        style = {"color": self.surface.ink, "linewidth": 0.8 * self.surface.unit}
        dashes = {"linestyle": DOTTED} if is_dashed else {}
        if x is not None:
            self.axes.axvline(x, **style, **dashes)  # type: ignore[arg-type]
        if y is not None:
            self.axes.axhline(y, **style, **dashes)  # type: ignore[arg-type]

    def text(self, x: float, y: float, text: str, *, ha: str = "left", va: str = "center") -> None:
        """Draw text at a position in units from the lower left corner of the axes."""
        place = (x / self.width, y / self.height)
        self.axes.text(*place, text, transform=self.axes.transAxes, ha=ha, va=va, clip_on=False)

    def text_at(self, x: float, y: float, text: str, *, ha: str = "center", va: str = "center") -> None:
        """Draw text at data coordinates, on a background that hides lines behind it."""
        ground = {"facecolor": self.surface.ground, "edgecolor": "none", "pad": self.surface.unit}
        self.axes.text(x, y, text, ha=ha, va=va, bbox=ground, linespacing=1.0)

    def name_y(
        self, name: str, *, tail: str = "", above: float = 8.0, width: float | None = None, right: float | None = None
    ) -> None:
        """Write the name of the vertical axis above it, where long names fit without rotation.

        Axis limits must be set before. `tail` is never truncated; `width` is the available width in units, by default
        that of the panel; `right` is the right end of the name, for an axis on the right.
        """
        label = self._axis_label(self.axes.yaxis, name, tail, width)
        y = self.height + above
        self.text(0 if right is None else right, y, label, ha="left" if right is None else "right", va="bottom")

    def name_x(self, name: str) -> None:
        """Write the name of the horizontal axis below its tick labels, aligned right."""
        self.text(self.width, -22, self._axis_label(self.axes.xaxis, name, "", None), ha="right", va="top")

    def name_above(self, name: str, *, above: float, tail: str = "", left: float | None = None) -> None:
        """Write the name of the horizontal axis above the panel, for panels that are stacked.

        It starts `left` of the panel's lower left corner, or ends with the panel.
        """
        label = self._axis_label(self.axes.xaxis, name, tail, self.surface.n_units - 24)
        x = self.width if left is None else left
        self.text(x, self.height + above, label, ha="right" if left is None else "left", va="bottom")

    def draw_legend(self) -> None:
        """Draw the legend of the panel's entries below it: stroke and marker of each, its name and its n."""
        for entry, text, offset, row in self.names:
            x, y, index = offset + 6 - self.left, 2 - self.below - LEGEND_ROW * (row + 0.5), entry.index
            across, up = np.array([x, x + 18]) / self.width, np.array([y, y]) / self.height
            scale = self.axes.transAxes
            self.line(across, up, index, width=2.5, is_dashed=entry.is_dashed, scale=scale)
            centre = scale.transform([(across.mean(), up[0])])
            self.points_at(centre, index, diameter=7, alpha=1.0, is_clipped=False)
            self.text(x + LEGEND_KEY, y, text)

    def name_ends(self, entries: Sequence[LegendEntry], heights: Sequence[float]) -> None:
        """Write the names right of the panel, each as near as there is room to where its line ends, a data value."""
        order = np.argsort(heights, kind="stable")
        ends = [self.to_units(self.axes.get_xlim()[1], heights[place])[1] for place in order]
        sizes = [_height_beside(entries[place]) for place in order]
        for place, y in zip(order, spread(ends, sizes, self.height), strict=True):
            entry = entries[place]
            lines = _lines_beside(entry)
            top = y + LINE * (len(lines) - 1) / 2
            centre = self.axes.transAxes.transform([(1 + 9 / self.width, top / self.height)])
            self.points_at(centre, entry.index, diameter=7, alpha=1.0, is_clipped=False)
            for line, text in enumerate(lines):
                self.text(self.width + BESIDE_KEY, top - LINE * line, text)

    def clear_frame(self, *sides: str) -> None:
        """Remove the background and the lines on these sides, and make ticks small."""
        self.axes.set_facecolor("none")
        self.axes.spines[list(sides)].set_visible(False)
        unit = self.surface.unit
        self.axes.tick_params(length=3 * unit, width=0.8 * unit, pad=3.5 * unit)

    def arrange_rows(self, n: int) -> None:
        """Replace the vertical axis by rows at 0, 1, … from the top."""
        self.axes.set_ylim(n - 0.5, -0.5)
        self.axes.set_yticks([])
        self.axes.spines["left"].set_visible(False)

    def name_row(self, row: int, n: int, lines: Sequence[str], *, gap: float, width: float) -> None:
        """Write one or two lines of text left of a row, `gap` units from the axis, truncated to fit."""
        y = self.height * (1 - (row + 0.5) / n)
        for line, text in enumerate(lines):
            self.text(-gap, y + 7 * (len(lines) - 1 - 2 * line), self.surface.fit(text, width), ha="right")

    def set_scale(self, x: tuple[float, float], y: tuple[float, float], *, is_whole: bool = False) -> None:
        """Limits of both axes, linear ones, with some numbers each; those of the horizontal one may be whole."""
        self.axes.set_xlim(*x)
        self.axes.set_ylim(*y)
        self.ticks_x(6, is_whole=is_whole)
        self.axes.yaxis.set_major_locator(few_ticks(6))

    def finish(self, name_y: str, name_x: str, *, tail: str = "") -> Figure:
        """The figure, once both axes are named and the legend is drawn."""
        self.name_y(name_y, tail=tail)
        self.name_x(name_x)
        self.draw_legend()
        return self.figure

    def ticks_x(self, n_most: int = 6, *, is_whole: bool = False) -> None:
        """Place as many tick labels on the horizontal axis as fit, at most `n_most`; axis limits must be set before.

        A few whole steps have one each, so that the first and the last have theirs.
        """
        axis = self.axes.xaxis
        low, high = self.axes.get_xlim()
        if is_whole and high - low <= FEW_STEPS:
            n_most = FEW_STEPS
        for n in range(n_most, 0, -1):
            axis.set_major_locator(few_ticks(n, is_whole=is_whole))
            ticks = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
            room = self.width * (ticks[1] - ticks[0]) / (high - low) if len(ticks) > 1 else self.width
            labels = axis.get_major_formatter().format_ticks(list(axis.get_majorticklocs()))
            if max(map(self.surface.text_width, labels)) + 8 <= room:
                return

    def ticks_at(self, labels: Mapping[float, str], *, widest: float = np.inf) -> None:
        """Place ticks at these values of the horizontal axis, from the left, as many as fit.

        Axis limits must be set before; labels are truncated to `widest` units.
        """
        ticks: list[float] = []
        end = -np.inf
        for value, label in labels.items():
            x, _ = self.to_units(value, self.axes.get_ylim()[0])
            half = min(self.surface.text_width(label), widest) / 2
            if x - half >= end + 6:
                ticks.append(value)
                end = x + half
        self.label_ticks({tick: self.surface.fit(labels[tick], widest) for tick in ticks})

    def label_ticks(self, labels: Mapping[float, str]) -> None:
        """Label these values of the horizontal axis, and remove all other ticks."""
        axis = self.axes.xaxis
        axis.set_major_locator(FixedLocator(list(labels)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: labels.get(value, "")))

    def _axis_label(self, axis: XAxis | YAxis, name: str, tail: str, width: float | None) -> str:
        """The truncated axis name, its suffix, and the offset or multiplier that matplotlib would draw in its place.

        matplotlib would write the latter in the place of the name.
        """
        formatter = axis.get_major_formatter()
        formatter.set_locs(list(axis.get_majorticklocs()))
        factor, plus, offset = formatter.get_offset().partition("+")
        axis.get_offset_text().set_visible(False)
        whole_tail = tail + (f" × {factor}" if factor else "") + (f" + {offset}" if plus else "")
        room = (self.width if width is None else width) - self.surface.text_width(whole_tail)
        return f"{self.surface.fit(name, room)}{whole_tail}"

    def _arrow(self, x: float, y: float, index: int | None, turn: float) -> None:
        """Draw an arrow head, rotated by degrees from the right, where an interval continues beyond the panel."""
        corners = Affine2D().rotate_deg(turn).scale(self.surface.unit).transform(ARROW)
        path = _polygons(self.to_pixels([x], [y]), corners, self.surface.grain)
        self._add_path(path, index, is_clipped=True, facecolor=self.surface.ink, linewidth=0)

    def _add_dots(self, pixels: Floats, index: int | None, diameter: float, *, is_clipped: bool, **style: Any) -> None:
        path, width = _dots(pixels, self.surface.grain), diameter * self.surface.unit
        style |= {"facecolor": "none", "linewidth": width, "capstyle": "round"}
        self._add_path(path, index, is_clipped=is_clipped, **style)

    def _add_path(self, path: Path, index: int | None, *, is_clipped: bool, **style: Any) -> None:
        patch = PathPatch(path, **style)
        # Pixels of a drawing in which one is a point, whatever the resolution it is written in.
        patch.set_transform(Affine2D().scale(1 / 72) + self.figure.dpi_scale_trans)
        self._add(patch, index, is_clipped=is_clipped)

    def _add(self, artist: Artist, index: int | None, *, is_clipped: bool) -> None:
        # Moved to whole pixels, a line of next to no length, which is a dot, would be one of none.
        artist.set_snap(False)
        artist.set_clip_on(is_clipped)
        name_series(artist, index)
        # Not add_patch or add_line: they go through every vertex to widen limits that are fixed already.
        self.axes.add_artist(artist)


def _polygons(centres: Floats, corners: Floats, grain: int) -> Path:
    """The same polygon around each centre, in pixels."""
    ring = np.concatenate([corners, corners[:1]])
    vertices = np.round(centres[:, None, :] + ring, grain).reshape(-1, 2)
    codes = [Path.MOVETO, *[Path.LINETO] * (len(corners) - 1), Path.CLOSEPOLY]
    return Path(vertices, np.tile(codes, len(centres)))


def _dots(centres: Floats, grain: int) -> Path:
    """Lines of almost zero length, drawn as dots with round ends; some renderers drop lines of zero length."""
    begins = np.round(centres, grain)
    vertices = np.stack([begins, begins + np.array([0.1, 0.0])], axis=1).reshape(-1, 2)
    return Path(vertices, np.tile([Path.MOVETO, Path.LINETO], len(centres)))


def new_figure(surface: Surface, height: float) -> Figure:
    """A transparent figure as wide as the surface and `height` units high; one pixel is one point."""
    return Figure(figsize=(surface.width / 72, height * surface.unit / 72), dpi=72, facecolor="none")


def add_panel(figure: Figure, surface: Surface, left: float, bottom: float, right: float, top: float) -> Panel:
    """Axes with explicit margins in units; automatic layout would measure all text, which is slow."""
    width, height = figure.get_size_inches() * 72 / surface.unit
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height),
    )
    panel = Panel(figure, axes, surface, float(width - left - right), float(height - bottom - top), left)
    panel.clear_frame("top", "right")
    return panel


def new_panel(
    surface: Surface,
    height: float,
    entries: Sequence[LegendEntry],
    *,
    left: float,
    right: float = 16,
    top: float = 28,
    below: float = 42,
) -> Panel:
    """A figure with one panel of the given height, with space below for its axis and the rows of its legend."""
    names = legend_names(surface, entries)
    bottom = below + LEGEND_ROW * (1 + max((row for *_, row in names), default=-1))
    figure = new_figure(surface, height + top + bottom)
    return replace(add_panel(figure, surface, left, bottom, right, top), below=below, names=names)


def room_beside(surface: Surface, entries: Sequence[LegendEntry], height: float) -> float | None:
    """Width in units that names right of a panel take; None where they have no room, and belong in a legend."""
    width = max(surface.text_width(line) for entry in entries for line in _lines_beside(entry))
    room = width + BESIDE_KEY + 2 * BESIDE_GAP
    fits = room <= WIDEST_BESIDE * surface.n_units and sum(map(_height_beside, entries)) <= height
    return room if fits else None


def _lines_beside(entry: LegendEntry) -> list[str]:
    return [entry.label, *entry.note.split(", ")] if entry.note else [entry.label]


def _height_beside(entry: LegendEntry) -> float:
    return LINE * len(_lines_beside(entry)) + BESIDE_GAP


def spread(wanted: Sequence[float], sizes: Sequence[float], height: float) -> Floats:
    """Centres of boxes in a column from 0 to `height` that do not overlap, as near to the wanted ones as possible.

    Args:
        wanted: centres, in rising order. sizes: of the boxes, not more than the column in all.

    >>> spread([5, 90, 92], [10, 10, 10], 100).tolist()
    [5.0, 85.0, 95.0]
    """
    ends = np.cumsum(sizes)
    offsets = ends - np.array(sizes) / 2
    # Without their offsets, boxes that do not overlap are values that do not fall.
    free = np.array(wanted) - offsets
    if np.any(np.diff(free) < 0):
        from scipy.optimize import isotonic_regression  # slow to import, and few names meet

        free = isotonic_regression(free).x
    centres: Floats = np.clip(free, 0, height - ends[-1]) + offsets
    return centres


def legend_names(surface: Surface, entries: Sequence[LegendEntry]) -> tuple[Name, ...]:
    """Arrange names in rows of the legend by width, as matplotlib can only arrange them in columns.

    A name that fills a row alone is truncated to it.
    """
    width = surface.n_units - 12
    names: list[Name] = []
    x, row = 0.0, 0
    for entry in entries:
        note = f" ({entry.note})" if entry.note else ""
        label = surface.fit(entry.label, max(40.0, width - LEGEND_KEY - surface.text_width(note)))
        needed = LEGEND_KEY + surface.text_width(f"{label}{note}")
        if names and x + needed > width:
            x, row = 0.0, row + 1
        names.append((entry, f"{label}{note}", x, row))
        x += needed + LEGEND_GAP
    return tuple(names)


def few_ticks(n: int, *, is_whole: bool = False) -> MaxNLocator:
    return MaxNLocator(n, steps=[1, 2, 5, 10] if is_whole else [1, 2, 2.5, 5, 10], integer=is_whole)


def join_lines(lines: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Join several lines, given as x and y, to one line with gaps, so that a hundred runs are one SVG element."""
    parts = [np.concatenate([np.stack([x, y]), [[np.nan], [np.nan]]], axis=1) for x, y in lines]
    x, y = np.concatenate(parts, axis=1) if parts else np.empty((2, 0))
    return x, y


def is_dashed(index: int) -> bool:
    """Whether the line is dashed, because the colours have been used once already."""
    return (index // len(PALETTE)) % 2 == 1


def name_series(artist: Artist, index: int | None) -> None:
    """Mark an element with the experiment that it belongs to, so that the page can hide and show it."""
    if index is not None:
        artist.set_gid(f"series-{index}")


FARTHEST = 1.5
"""Ends of intervals widen an axis by so many times the range of the points, on each side: the interval of two runs
would else leave no room for the runs themselves."""


def axis_limits(values: Sequence[float], ends: Sequence[float]) -> tuple[float, float]:
    """Limits that include all values, and interval ends up to `FARTHEST`."""
    low, high = min(values), max(values)
    span = high - low
    if span <= 1e-12 * max(abs(low), abs(high)):
        return pad_limits(min((low, *ends)), max((high, *ends)))
    lowest, highest = low - FARTHEST * span, high + FARTHEST * span
    return pad_limits(max(lowest, min((low, *ends))), min(highest, max((high, *ends))))


def pad_limits(low: float, high: float) -> tuple[float, float]:
    """Limits with a margin; equal values get a window scaled to their size."""
    span = high - low
    if span <= 1e-12 * max(abs(low), abs(high)):
        span = abs(high) or 1.0
    return low - 0.07 * span, high + 0.07 * span


def clip_interval(window: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """The visible part of an interval; where it exceeds the window, it ends slightly inside the edge."""
    first, last = min(window), max(window)
    air = 0.025 * (last - first)
    return (low if low >= first else first + air), (high if high <= last else last - air)


def cut_note(*, is_cut: bool) -> str:
    """The note in an axis name where intervals exceed the axis."""
    return "; arrow: goes on" if is_cut else ""


FEW_STEPS = 10
"""Steps up to which each has a tick."""

GOLDEN = 0.6180339887498949
"""Multiples of it modulo 1 spread evenly and never line up."""

NEIGHBOURS = 80


def diameter(n_most: int) -> float:
    """Diameter of a point in units; smaller in large groups, so that densities of a thousand points remain visible."""
    return 6.0 if n_most <= 24 else 5.0 if n_most <= 60 else 3.6 if n_most <= 250 else 2.4 if n_most <= 600 else 1.7


def aside(values: Floats, half_width: float, size: float) -> Floats:
    """How far each point stands from the middle of its group, shape (n,); all three in the same unit.

    Points are placed in the order of their values, each at the first place from the middle outwards that is free; where
    a group has no room left they cover each other, spread evenly over its width.
    """
    steps = np.arange(0, half_width, size / 2)
    offsets = np.concatenate([steps, -steps])[np.argsort(np.concatenate([steps, steps]), kind="stable")]
    places = np.zeros(len(values))
    done_values, done_places = np.empty(len(values)), np.empty(len(values))
    for n_done, point in enumerate(np.argsort(values, kind="stable")):
        begin = max(0, n_done - NEIGHBOURS)
        near = slice(begin + int(np.searchsorted(done_values[begin:n_done], values[point] - size)), n_done)
        rise = (values[point] - done_values[near]) ** 2
        is_free = ((offsets[:, None] - done_places[near]) ** 2 + rise >= size**2 * 0.999).all(axis=1)
        spread = half_width * (2 * (n_done * GOLDEN % 1) - 1)
        places[point] = offsets[is_free.argmax()] if is_free.any() else spread
        done_values[n_done], done_places[n_done] = values[point], places[point]
    return places


def chains(pairs: Sequence[Sequence[tuple[int, int]]]) -> list[list[int | None]]:
    """Runs of several groups that share their seeds: per run of the first group its place in each, None where not.

    Args:
        pairs: for every further group, places in the first group and in that one.

    >>> chains([[(0, 0), (1, 2)], [(1, 0)]])
    [[0, 0, None], [1, 2, 0]]
    """
    by_first = [dict(group) for group in pairs]
    firsts = sorted(set().union(*by_first)) if by_first else []
    return [[first, *(group.get(first) for group in by_first)] for first in firsts]
