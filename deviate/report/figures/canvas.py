"""A matplotlib figure becomes text that a page can hold: same bytes each time, ids of its own, colours of the page.

Lines and points are drawn in pixels rounded to a tenth, for that halves the text and nobody sees the difference.
"""

import html
import io
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from deviate.report.format import shorten

Floats = NDArray[np.float64]

INK = "#010203"
"""Stands for the colour of the page's text, which matplotlib cannot name."""

GROUND = "#fdfefc"
"""The same for the ground of the page."""

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Source: Okabe & Ito (2008), Color universal design; order chosen for contrast on light and dark ground."""

FONT_SIZE = 11

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "path.simplify": False,
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": FONT_SIZE,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.8,
    # Only where values agree in so many digits that labels would not fit, such as 1e9 and a little noise.
    "axes.formatter.offset_threshold": 8,
}


def colour(index: int) -> str:
    return PALETTE[index % len(PALETTE)]


@contextmanager
def figure_style(key: str) -> Iterator[None]:
    """What matplotlib reads from its settings while a figure is made and written; put back afterwards."""
    settings: Any = {**STYLE, "svg.hashsalt": key}
    with mpl.rc_context(settings), warnings.catch_warnings():
        # A name may hold letters that the font for measuring lacks; the reader's browser has them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def new_figure(width: int, height: int) -> Figure:
    """A transparent figure of so many CSS pixels."""
    figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="none")
    FigureCanvasSVG(figure)
    return figure


def add_axes(figure: Figure, left: float, bottom: float, right: float, top: float) -> Axes:
    """Axes with the given margins in pixels: layout that measures text would be slow and depend on fonts."""
    width, height = figure.get_size_inches() * 72
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, (height - bottom - top) / height),
        facecolor="none",
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(length=3, width=0.8)
    return axes


def few_ticks(n: int) -> MaxNLocator:
    return MaxNLocator(n, steps=[1, 2, 2.5, 5, 10])


def name_axis(axes: Axes, name: str, n_characters: int, *, at: float = 1.03, is_right: bool = False) -> None:
    """The name of the vertical axis above it, where a long one has room and needs no turned head.

    What its labels are to be multiplied with or added to goes with the name, for matplotlib writes it in the same
    place. The limits must be set before.
    """
    formatter = axes.yaxis.get_major_formatter()
    formatter.set_locs(list(axes.yaxis.get_majorticklocs()))
    factor, plus, offset = formatter.get_offset().partition("+")
    axes.yaxis.get_offset_text().set_visible(False)
    text = shorten(name, n_characters) + (f" × {factor}" if factor else "") + (f" + {offset}" if plus else "")
    side = 1 if is_right else 0
    axes.text(side, at, text, transform=axes.transAxes, ha="right" if is_right else "left", va="bottom")


def add_points(axes: Axes, pixels: Floats, fill: str, diameter: float = 5.0) -> None:
    """Dots at pixel positions, shape (n, 2): lines of no length with round ends, all in one path."""
    centres = np.round(np.asarray(pixels, dtype=float), 1)
    # A line of exactly no length is dropped by some renderers.
    ends = centres + np.array([0.1, 0.0])
    vertices = np.stack([centres, ends], axis=1).reshape(-1, 2)
    codes = np.tile([Path.MOVETO, Path.LINETO], len(centres))
    _add_path(axes, Path(vertices, codes), fill, diameter, alpha=0.75)


def add_lines(
    axes: Axes, lines: Iterable[Floats], stroke: str, *, width: float, alpha: float, is_dashed: bool = False
) -> None:
    """Polylines in pixels, each of shape (n, 2), as one path; a NaN breaks a line."""
    parts: list[Floats] = []
    codes: list[NDArray[np.uint8]] = []
    for line in lines:
        is_there = np.asarray(np.isfinite(line).all(axis=1))
        begins = is_there & ~np.concatenate([[False], is_there[:-1]])
        code = np.where(begins, Path.MOVETO, Path.LINETO).astype(np.uint8)
        parts.append(np.round(line[is_there], 1))
        codes.append(code[is_there])
    if not sum(map(len, parts)):
        return
    path = Path(np.concatenate(parts), np.concatenate(codes))
    _add_path(axes, path, stroke, width, alpha=alpha, is_dashed=is_dashed)


def add_band(axes: Axes, x: Floats, low: Floats, high: Floats, fill: str) -> None:
    """A filled band in pixels between two lines; parts where a side is NaN are left open."""
    vertices: list[Floats] = []
    codes: list[int] = []
    is_there = np.isfinite(low) & np.isfinite(high)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_there, [False]]).astype(int)))
    for begin, end in edges.reshape(-1, 2):
        there = slice(begin, end)
        ring = np.concatenate([np.column_stack([x[there], low[there]]), np.column_stack([x[there], high[there]])[::-1]])
        vertices += [np.round(ring, 1), np.round(ring[:1], 1)]
        codes += [int(Path.MOVETO), *[int(Path.LINETO)] * (len(ring) - 1), int(Path.CLOSEPOLY)]
    if vertices:
        patch = PathPatch(
            Path(np.concatenate(vertices), codes), transform=IdentityTransform(), facecolor=fill, alpha=0.2, linewidth=0
        )
        axes.add_artist(patch)


def to_pixels(axes: Axes, x: Floats, y: Floats) -> Floats:
    """Data to pixels, shape (n, 2); the limits of the axes must be set before."""
    return np.asarray(axes.transData.transform(np.column_stack([x, y])), dtype=float)


def svg_text(figure: Figure, key: str, title: str, description: str) -> str:
    """The figure as an `<svg>` element for a page; `key` is unique on the page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    width, height = (round(float(size) * 72) for size in figure.get_size_inches())
    body = re.sub(r"^.*?<svg[^>]*>", "", buffer.getvalue(), count=1, flags=re.DOTALL)
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    body = re.sub(r"<defs>\s*</defs>", "", body)
    body = re.sub(r"font(-family)?: ([^;\"]*?)'DejaVu Sans'[^;\"]*", _page_font, body)
    body = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", body)
    body = re.sub(r"\s*\n\s*", " ", body).replace(INK, "currentColor").replace("xlink:href", "href")
    body = body.replace(GROUND, "var(--ground, #ffffff)")
    for index, fixed in enumerate(PALETTE):
        body = body.replace(fixed, f"var(--series-{index}, {fixed})")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="{key}-title {key}-desc" stroke-linejoin="round">'
        f'<title id="{key}-title">{html.escape(title)}</title><desc id="{key}-desc">{html.escape(description)}</desc>'
        f"{body.strip()}"
    )


def _page_font(match: re.Match[str]) -> str:
    """Text takes the font of the page; size and weight stay."""
    if match[1]:
        return "font-family: inherit"
    size = re.search(r"[\d.]+px", match[2])
    weight = "bold " if re.search(r"bold|[6-9]00", match[2]) else ""
    return f"font: {weight}{size[0] if size else FONT_SIZE} system-ui, sans-serif"


def _add_path(axes: Axes, path: Path, stroke: str, width: float, *, alpha: float, is_dashed: bool = False) -> None:
    patch = PathPatch(
        path,
        transform=IdentityTransform(),
        facecolor="none",
        edgecolor=stroke,
        linewidth=width,
        alpha=alpha,
        capstyle="round",
        linestyle=(0, (3, 2)) if is_dashed else "solid",
    )
    # Not add_patch: it goes through every vertex to widen limits that are fixed already.
    axes.add_artist(patch)
