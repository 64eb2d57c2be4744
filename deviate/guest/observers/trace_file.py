"""Writes the file of a trace: buffers lines and writes them in batches, with stored arrays in files beside it."""

from __future__ import annotations

import json
import os
from functools import partial
from json.encoder import encode_basestring_ascii as _quoted

from ..annotations import TYPE_CHECKING, Any, Array, Callable
from ..npz import write_npz

if TYPE_CHECKING:
    from typing import Union

    Digest = Union[int, None, Callable[[], "tuple[int | None, dict[str, object]]"]]

SCHEMA = 1
FOLDER = "artifacts"
MOST_KEPT = 1 << 28
"""Bytes of arrays that are kept of one process."""


class TraceFile:
    """The trace file of one process, created when the first lines are written.

    Attributes:
        lines: those that wait, as texts, or as what will give them when they are written.
        arrays: those that wait, by name.
    """

    def __init__(self, folder: str, pid: int, facts: Callable[[], dict[str, object]]) -> None:
        self.folder = os.path.join(folder, FOLDER)
        self.pid = pid
        self.facts = facts
        self.path = ""
        self.lines: list[str | Callable[[], str]] = []
        self.arrays: list[tuple[str, Array]] = []
        self.left = MOST_KEPT

    def add(self, *items: object) -> None:
        """Add a line that is not a record."""
        self.lines.append(json.dumps(items))

    def keep(self, name: str, array: Array) -> None:
        """Store an array if there is space."""
        kind, shape, buffer = array
        data = bytes(buffer)
        self.left -= len(data)
        if self.left >= 0:
            self.arrays.append((name, (kind, shape, data)))

    def write(self, step: int) -> None:
        """Write buffered lines; `step` numbers the file of arrays. Raises OSError if the disk is full or read-only."""
        begin = []
        if not self.path:
            os.makedirs(self.folder, exist_ok=True)
            self.path = os.path.join(self.folder, "trace-%x.jsonl" % self.pid)
            begin.append(json.dumps(["start", SCHEMA, self.facts()]))
        lines = self.lines[:]
        del self.lines[:]
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("".join([(line if isinstance(line, str) else line()) + "\n" for line in begin + lines]))
        if self.arrays:
            arrays, self.arrays = self.arrays, []
            write_npz(os.path.join(self.folder, "kept-%x-%d.npz" % (self.pid, step)), arrays, is_compressed=False)


def record_line(
    kind: str, name: str, digest: Digest, form: str, place: int, more: dict[str, object]
) -> str | Callable[[], str]:
    """A record as text, formatted by hand: formatting is the largest cost of a record besides its checksum."""
    if callable(digest):
        return partial(_later_line, kind, name, digest, form, place, more)
    checksum: Any = "null" if digest is None else digest
    text = json.dumps(more, default=str) if more else "{}"
    return f'["{kind}", {_quoted(name)}, {checksum}, "{form}", {place}, {text}]'


def _later_line(kind: str, name: str, digest: Any, form: str, place: int, more: dict[str, object]) -> str:
    checksum, late = digest()
    return str(record_line(kind, name, checksum, form, place, dict(more, **late)))
