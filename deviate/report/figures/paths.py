"""Points, lines and bands in pixels as single paths: one element of a page for a hundred runs."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray

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


def corners(index: int) -> Floats:
    """Shape (n, 2); of a round dot none."""
    return np.array(SHAPES[index % len(SHAPES)], dtype=float).reshape(-1, 2)


def polygons(centres: Floats, around: Floats, grain: int) -> Path:
    """The same polygon at each centre."""
    ring = np.concatenate([around, around[:1]])
    vertices = np.round(centres[:, None, :] + ring, grain).reshape(-1, 2)
    code = [Path.MOVETO, *[Path.LINETO] * (len(around) - 1), Path.CLOSEPOLY]
    return Path(vertices, np.tile(code, len(centres)))


def dots(centres: Floats, grain: int) -> Path:
    """Lines of no length, for a stroke with round ends; one of exactly none is dropped by some renderers."""
    begins = np.round(centres, grain)
    vertices = np.stack([begins, begins + np.array([0.1, 0.0])], axis=1).reshape(-1, 2)
    return Path(vertices, np.tile([Path.MOVETO, Path.LINETO], len(centres)))


def polylines(lines: Iterable[Floats], grain: int) -> Path | None:
    """Lines of shape (n, 2), which a NaN breaks; None where nothing is left."""
    parts: list[Floats] = []
    codes: list[NDArray[np.uint8]] = []
    for line in lines:
        is_there = np.asarray(np.isfinite(line).all(axis=1))
        begins = is_there & ~np.concatenate([[False], is_there[:-1]])
        code = np.where(begins, Path.MOVETO, Path.LINETO).astype(np.uint8)
        parts.append(np.round(line[is_there], grain))
        codes.append(code[is_there])
    return Path(np.concatenate(parts), np.concatenate(codes)) if sum(map(len, parts)) else None


def bands(x: Floats, low: Floats, high: Floats, grain: int) -> Path | None:
    """The area between two lines; parts where a side is NaN are left open, and None where all is."""
    rings: list[Floats] = []
    codes: list[int] = []
    is_there = np.isfinite(low) & np.isfinite(high)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_there, [False]]).astype(int)))
    for begin, end in edges.reshape(-1, 2):
        there = slice(begin, end)
        up, down = np.column_stack([x[there], low[there]]), np.column_stack([x[there], high[there]])
        rings.append(np.round(np.concatenate([up, down[::-1], up[:1]]), grain))
        codes += [int(Path.MOVETO), *[int(Path.LINETO)] * (len(rings[-1]) - 2), int(Path.CLOSEPOLY)]
    return Path(np.concatenate(rings), codes) if rings else None


def head(at: Sequence[float], turn: float, size: float) -> Path:
    """The head of an arrow that points right, turned by so many degrees counter-clockwise."""
    angle = np.deg2rad(turn)
    turned = np.array([(5.0, 0.0), (-3.0, 3.6), (-3.0, -3.6)]) @ np.array(
        [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    )
    return polygons(np.array([at], dtype=float), turned * size, 2)
