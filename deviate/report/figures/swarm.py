"""Where raw points stand: each at its own value, moved aside just so far that it hides no other."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GOLDEN = 0.6180339887498949
"""Multiples of it modulo 1 spread evenly and never line up."""

NEIGHBOURS = 80


def diameter(n_most: int) -> float:
    """Diameter of a point in units; smaller in large groups, so that densities of a thousand points remain visible."""
    return 5.0 if n_most <= 60 else 3.6 if n_most <= 250 else 2.4 if n_most <= 600 else 1.7


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
