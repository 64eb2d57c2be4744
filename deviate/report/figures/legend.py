"""The names of experiments below a panel: a stroke and the shape of each, its name as far as it fits, and its n."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deviate.report.figures.panel import Panel
from deviate.report.figures.surface import Surface

ROW = 18.0
KEY, GAP = 26.0, 16.0
"""Units of the stroke before a name, and between two names of a row."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One experiment: its place in the report, its name, and what must not be shortened."""

    index: int
    label: str
    note: str
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class _Placed:
    entry: Entry
    text: str
    x: float
    row: int


@dataclass(frozen=True, slots=True)
class Legend:
    """Entries in rows; `height` in units."""

    placed: tuple[_Placed, ...]

    @property
    def height(self) -> float:
        return ROW * (1 + max((it.row for it in self.placed), default=-1))

    def draw(self, panel: Panel, *, below: float, left: float) -> None:
        """The rows, the first so many units below the panel, beginning `left` of it."""
        outside = panel.opened()
        for it in self.placed:
            y, index = -below - ROW * (it.row + 0.5), it.entry.index
            ends = np.stack([panel.place(it.x - left, y), panel.place(it.x - left + 18, y)])
            outside.lines([ends], index, width=2.5, is_dashed=it.entry.is_dashed)
            outside.points(ends.mean(axis=0, keepdims=True), index, diameter=7, alpha=1.0)
            panel.text(it.x - left + KEY, y, it.text)


def legend(surface: Surface, entries: Sequence[Entry], width: float) -> Legend:
    """As many entries in a row as fit into so many units; a name alone in its row is shortened to it."""
    placed: list[_Placed] = []
    x, row = 0.0, 0
    for entry in entries:
        note = f" ({entry.note})" if entry.note else ""
        label = surface.fit(entry.label, max(40.0, width - KEY - surface.text_width(note)))
        needed = KEY + surface.text_width(f"{label}{note}")
        if placed and x + needed > width:
            x, row = 0.0, row + 1
        placed.append(_Placed(entry, f"{label}{note}", x, row))
        x += needed + GAP
    return Legend(tuple(placed))
