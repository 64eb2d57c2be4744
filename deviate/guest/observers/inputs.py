"""The inputs of a traced process: what enters the program from outside, and may differ between two runs.

An input is a directory listing, the order of a set, a reading of the clock, the order in which workers finish and the
like. Each is one line of the trace, with a checksum of the value and a short text. Inputs are not records: two runs
whose inputs differ are equal as long as their records are.

The cost is bounded: a place in the program has MOST_AT_PLACE lines, after which its values are folded into one line per
step, and a process has MOST_LINES.
"""

from __future__ import annotations

import json
import threading
from types import FrameType

from ..annotations import Any
from .trace import TraceWriter

MOST_AT_PLACE = 200
"""Lines of one place; later values are folded into one line for each step."""
MOST_LINES = 20000
"""Lines of a process, after which nothing is recorded."""
LONGEST = 80
"""Characters of the text of a value."""


class Inputs:
    """Records the inputs of this process as lines of its trace.

    Attributes:
        is_active: whether inputs are wanted now; callers ask before they prepare anything.
    """

    def __init__(self, trace: TraceWriter) -> None:
        self.trace = trace
        self.main_thread = threading.main_thread().ident
        self.n_lines = 0
        self.n_at: dict[tuple[str, int, bool], int] = {}
        self.folded: dict[tuple[str, int, bool], tuple[str, int, int]] = {}
        self.folding = threading.RLock()
        self.has_listener = False

    @property
    def is_active(self) -> bool:
        return self.trace.level > 0 and self.n_lines < MOST_LINES

    def record(
        self,
        source: str,
        call: str,
        value: str | bytes | None,
        place: int,
        shown: str = "",
        *,
        is_ordered: bool = False,
    ) -> None:
        """Record one input.

        Args:
            source: one of those that docs/reference/traces.md lists, such as "listing".
            call: what was called, for people: `os.listdir('data')`.
            value: what two runs are compared by; None where it cannot be compared, such as an address.
            place: number of the line in the program, from `Trace.place`; inputs of no line are left out.
            shown: the value for people; by default `value`.
            is_ordered: whether the inputs of the place are compared in their order even if threads record them.
        """
        if place < 0 or not self.is_active:
            return
        from zlib import crc32  # most processes are not traced

        data = value if isinstance(value, bytes) else (value or "").encode("utf-8", "backslashreplace")
        digest = None if value is None else crc32(data)
        is_in_thread = not is_ordered and threading.get_ident() != self.main_thread
        key = (source, place, is_in_thread)
        count = self.n_at[key] = self.n_at.get(key, 0) + 1
        if count > MOST_AT_PLACE:
            with self.folding:
                _, n, checksum = self.folded.get(key, (call, 0, 0))
                # The order of threads is chance, and so is which of their values are folded.
                checksum = (checksum + crc32(data)) & 0xFFFFFFFF if is_in_thread else crc32(data, checksum)
                self.folded[key] = call, n + 1, checksum
            if not self.has_listener:
                self.has_listener = True
                self.trace.at_step_end.append(self.end_step)
            return
        text = shown or (value if isinstance(value, str) else "")
        self._add(source, call, digest, text, place, {"thread": True} if is_in_thread else {})

    def end_step(self) -> None:
        """Write what was folded during the step."""
        with self.folding:
            folded, self.folded = self.folded, {}
        for (source, place, is_in_thread), (call, n, checksum) in folded.items():
            more = {"folded": n, "thread": True} if is_in_thread else {"folded": n}
            self._add(source, call, checksum, "%d values" % n, place, more)

    def _add(self, source: str, call: str, digest: int | None, text: str, place: int, more: dict[str, Any]) -> None:
        self.n_lines += 1
        shown = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
        self.trace.file.lines.append(json.dumps(["input", source, call[:LONGEST], digest, shown, place, more]))

    def place(self, frame: FrameType | None) -> int:
        """Number of the nearest line of the project, searching outwards from `frame`; -1 if there is none."""
        return self.trace.place(frame)
