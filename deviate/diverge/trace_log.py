"""One file of a trace read back, line by line; docs/reference/traces.md says what the lines mean."""

import re
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deviate.base import redact
from deviate.diverge.columns import NONE, Records
from deviate.diverge.findings import Place, Trace
from deviate.errors import RecordError
from deviate.records import BAD, ORIGINALS, TREE, json_lines

SCHEMA = 1
# 2026-11-22  1  first format; written by the guest
PIECE_CHARACTERS = 1 << 16
"""How much of a file is read at a time."""
LARGEST_STEP = 1 << 53
MARKS = frozenset({"start", "place", "main", "step", "cost", "ends", "end"})
"""What the lines begin with that are no records."""


def read_file(path: Path, texts: "Texts") -> list[Trace]:
    """The traces of a file: a process that replaced itself by another program goes on in the same one.

    A line that is damaged or cut off is counted, and so is a file that cannot be read.

    Raises:
        RecordError: a newer deviate wrote it.
    """
    readers = [_Reader(path, texts)]
    match = re.fullmatch(r"trace-([0-9a-f]+)\.jsonl", path.name)
    try:
        for event in _events(path, readers):
            if _begins(event) and readers[-1].is_begun:
                readers.append(_Reader(path, texts))
            readers[-1].take(event)
    except OSError:
        readers[-1].n_damaged += 1
    return [reader.trace(int(match[1], 16) if match else 0) for reader in readers if reader.is_begun]


def _begins(event: Any) -> bool:
    """Whether a line is the first one of a process; one that is damaged begins nothing."""
    return isinstance(event, list) and event[:1] == ["start"] and len(event) == 3 and "pid" in event[2]


class Texts:
    """Lines of the user's files as they were frozen, before anything was put into them; secrets are covered."""

    def __init__(self, snapshot: Path) -> None:
        self.snapshot = snapshot
        self.known: dict[str, list[str]] = {}

    def lines(self, file: str) -> list[str]:
        """Without their ends, secrets among them; none where the file cannot be read."""
        if file not in self.known:
            self.known[file] = self._lines(file)
        return self.known[file]

    def place(self, file: str, line: int) -> Place:
        lines = self.lines(file)
        return Place(file, line, redact(lines[line - 1]).strip() if 0 < line <= len(lines) else "")

    def _lines(self, file: str) -> list[str]:
        for folder in (ORIGINALS, TREE):
            try:
                text = (self.snapshot / folder / file).read_bytes().decode("utf-8", "replace")
            except (OSError, ValueError):
                continue
            return [line.rstrip("\r") for line in text.split("\n")]
        return []


class _Reader:
    """What one process told, as its lines come."""

    def __init__(self, path: Path, texts: Texts) -> None:
        self.path = path
        self.texts = texts
        self.records = Records()
        self.heads: dict[tuple[str, str, str, int], int] = {}
        self.places: dict[int, Place] = {}
        self.counts: dict[tuple[str, str], int] = {}
        self.rank, self.pid, self.level, self.first = 0, 0, 1, 0
        self.until: int | None = None
        self.seconds: list[float] = []
        self.costs: dict[int, tuple[float, float, int]] = {}
        self.ends: dict[str, tuple[int, str]] = {}
        self.step, self.main_step = 0, NONE
        self.is_whole = False
        self.n_damaged = 0

    @property
    def is_begun(self) -> bool:
        """Whether there is more than a start: a process that computed nothing leaves no trace."""
        return bool(self.records or self.seconds or self.costs)

    def take(self, event: Any) -> None:
        try:
            if event[0] in MARKS:
                self.mark(event)
            else:
                self.record(*event)
        except BAD:
            self.n_damaged += 1

    def mark(self, event: list[Any]) -> None:
        """Take what is no record. Raises ValueError for a mark with another number of items than it should have."""
        match event:
            case ["start", number, facts]:
                self.start(number, facts)
            case ["place", number, file, line]:
                self.places[number] = self.texts.place(file, line)
            case ["main", step]:
                self.main_step = _step(step)
            case ["step", step, seconds]:
                self.step = _step(step)
                self.counts.clear()
                self.seconds.append(float(seconds))
            case ["cost", level, traced, plain, n]:
                self.costs[int(level)] = (float(traced), float(plain), int(n))
            case ["ends", framework, level, reason]:
                self.ends[framework] = (int(level), str(reason))
            case ["end", *_]:
                self.is_whole = True
            case _:
                raise ValueError("no mark")

    def record(self, kind: str, name: str, digest: int | None, form: str, place: int, more: dict[str, Any]) -> None:
        key = (kind, name, form, place)
        head = self.heads.get(key)
        if head is None:
            if not type(kind) is type(name) is type(form) is str:
                raise ValueError("no record")
            head = self.heads[key] = self.records.number_of((kind, name, form, self.places.get(place)))
        number = self.records.number_of_more(self._extra_fields(more)) if more else 0
        ordinal = self.counts.get(key[:2], 0)
        self.records.add(self.step, self.main_step, head, ordinal, digest, number)
        self.counts[key[:2]] = ordinal + 1

    def _extra_fields(self, more: Mapping[str, Any]) -> Mapping[str, object]:
        if "rows" in more:
            return {**more, "rows": array("L", more["rows"])}
        if "called" in more:
            return {**more, "called": self.places.get(more["called"])}
        return more

    def start(self, number: int, facts: dict[str, Any]) -> None:
        if number > SCHEMA:
            raise RecordError(
                f"{self.path} has schema {number}; this deviate reads up to {SCHEMA}",
                "update deviate: a newer version wrote this record",
            )
        self.rank, self.pid = int(facts["rank"]), int(facts["pid"])
        self.level, self.first = int(facts["level"]), int(facts["from"])
        self.until = None if facts["until"] is None else int(facts["until"])

    def trace(self, pid: int) -> Trace:
        return Trace(
            rank=self.rank,
            level=self.level,
            first=self.first,
            until=self.until,
            records=self.records,
            n_steps=self.step,
            seconds=tuple(self.seconds),
            costs=self.costs,
            is_whole=self.is_whole,
            n_damaged=self.n_damaged,
            pid=pid or self.pid,
            ends=self.ends,
        )


def _step(step: int) -> int:
    """One absurd step must not put those that come after it out of reach."""
    if not 0 <= int(step) <= LARGEST_STEP:
        raise ValueError("no step")
    return int(step)


def _events(path: Path, readers: list[_Reader]) -> Iterator[Any]:
    def count() -> None:
        readers[-1].n_damaged += 1

    return json_lines(path, piece=PIECE_CHARACTERS, on_bad=count, on_torn=count)
