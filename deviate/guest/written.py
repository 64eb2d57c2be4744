"""What the script writes whole: rows of tables, and objects as JSON. Numbers are recorded under the words beside them.

The name of a number is that of its column or the keys to it. A row with one text in it, such as the name of a model, is
named by that too: `baseline mae`.
"""

from __future__ import annotations

import re
from sys import _getframe
from threading import get_ident
from types import FrameType

from .adapter_context import AdapterContext
from .annotations import Any, Sequence
from .values import MOST_ITEMS, read

DEEPEST = 4
VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()))
MOST_ROWS = 64
"""Rows that are written at once, or outside of the main loop: more are data."""
STAMP = re.compile(r"\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d")
"""Dates and times."""


def is_text(value: object) -> bool:
    """Whether a cell holds words; the time at which a row was written is none of them."""
    return isinstance(value, str) and bool(value.strip()) and not read(value) and STAMP.search(value) is None


def is_header(row: Sequence[object]) -> bool:
    """Whether a row holds nothing but words."""
    return any(map(is_text, row)) and all(isinstance(cell, str) and not read(cell) for cell in row)


def row_names(keys: Sequence[str], cells: Sequence[object]) -> list[str]:
    """Names of the cells of a row."""
    texts = [cell for cell in cells if is_text(cell)]
    return ["%s %s" % (texts[0], key) for key in keys] if len(texts) == 1 else list(keys)


class WriteRecorder:
    """Records what is written in this process."""

    def __init__(self, context: AdapterContext) -> None:
        self.recorder = context.recorder
        self.n_outside: dict[object, int] = {}
        self.lists: dict[object, list[Any]] = {}

    def is_data(self, of: object, n_rows: int) -> bool:
        """Whether rows that are written together are data, or add to some that are."""
        is_in_loop = bool(self.recorder.running.get(get_ident()))
        if self.recorder.is_in_main() or (is_in_loop and not self.recorder.has_stepped):
            return n_rows > MOST_ROWS
        self.n_outside[of] = self.n_outside.get(of, 0) + n_rows
        return self.n_outside[of] > MOST_ROWS

    def row(self, keys: Sequence[str], cells: Sequence[Any]) -> None:
        """Record the numbers of a row."""
        for name, cell in zip(row_names(keys, cells), cells):
            if not isinstance(cell, (dict, list, tuple)):
                self.recorder.named_value(name, cell, _getframe())

    def json(self, value: Any, frame: FrameType) -> None:
        """Record the numbers in an object that is written as JSON in this frame of the project."""
        self._nested(value, "", (frame.f_code, frame.f_lineno), DEEPEST)

    def table(self, table: Any, frame: FrameType) -> None:
        """Record the rows of a table of pandas that is written in this frame of the project."""
        place = frame.f_code, frame.f_lineno
        if len(table) - len(self.lists.get((place, ""), ())) <= MOST_ROWS:
            names = [str(name) for name in table.columns]
            indexed = zip(table.index.tolist(), table.to_numpy().tolist())
            rows = [{"": index if isinstance(index, str) else "", **dict(zip(names, row))} for index, row in indexed]
            self._history(rows, "", place)

    def _nested(self, value: Any, name: str, place: object, depth: int) -> None:
        if isinstance(value, dict):
            for key, item in list(value.items())[:MOST_ITEMS] if depth else ():
                self._nested(item, "%s.%s" % (name, key) if name else str(key), place, depth - 1)
        elif isinstance(value, (list, tuple)):
            self._history(list(value), name, place)
        elif name:
            self.recorder.named_value(name, value, _getframe())

    def _history(self, rows: list[Any], name: str, place: object) -> None:
        """Record the rows of a list which it did not have when it was written last."""
        key = place, name
        before = self.lists.get(key, [])
        self.lists[key] = rows
        new = rows[len(before) :] if rows[: len(before)] == before else rows
        if self.is_data(key, len(new)):
            return
        for row in new:
            if isinstance(row, dict):
                keys = ["%s.%s" % (name, column) if name else str(column) for column in row]
                self.row(keys, list(row.values()))
            elif name and not isinstance(row, (str, list, tuple)):
                self.recorder.named_value(name, row, _getframe())
