"""Traces: the records of a process in columns, and the files of an attempt that they are read from.

A million records take tens of megabytes in columns; record objects are created on access. docs/reference/traces.md says
what the lines of the files mean.
"""

import re
from array import array
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deviate.diverge.findings import CodeLine
from deviate.diverge.source import Texts, texts_of
from deviate.errors import RecordError
from deviate.records.files import BAD, json_lines
from deviate.records.layout import artifacts_folder, event_files

if TYPE_CHECKING:  # commands that only list or show should not wait for NumPy to load
    import numpy.typing as npt

Head = tuple[str, str, str, CodeLine | None]
"""Kind, name, form and place: the part of a record that repeats from step to step."""

NONE = -1
"""Marker of None among steps of the main loop."""
NO_DIGEST = (1 << 64) - 1
"""Code for None in the column of digests; a digest with this value is stored as the value below it."""
SHARED = frozenset({str, bool, type(None), CodeLine})
"""Types of values that records may share; numbers are excluded because 0.0 equals -0.0 and False."""
SCHEMA = 1
MARKS = frozenset({"start", "place", "main", "step", "ends", "end", "input", "ran"})
"""Prefix of lines that are not records."""


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One value that a process computed.

    Attributes:
        step: number of updates of the weights before it.
        main_step: step of the main loop, None outside of it.
        ordinal: number of records of this kind and name before it in its step.
        digest: checksum of type, shape and bytes; None if it is not to be compared.
        form: type and shape, such as "float32[512,10]".
        place: in the user's program; None if no line of it is on the call path.
        more: further members: `module`, the path of the module that ran; `value`, of a loss; `rows`, checksums of
            the rows of a batch; `reads`, "uninitialised" if an operation read memory that was never written.
    """

    step: int
    main_step: int | None
    kind: str
    name: str
    ordinal: int
    digest: int | None
    form: str = ""
    place: CodeLine | None = None
    more: dict[str, object] = field(default_factory=dict)

    @property
    def value(self) -> float | None:
        """The value of a loss."""
        value = self.more.get("value")
        return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class InputEvent:
    """Something that entered the program from outside: a listing, a reading of the clock, the order of results.

    Attributes:
        source: kind of the input, such as "listing"; docs/reference/traces.md lists them.
        call: what was called, such as "os.listdir('data')".
        digest: checksum of the value; None if it is not to be compared.
        shown: the value, shortened.
        step, main_step: as in TraceRecord. n_before: number of records before it in the trace.
        is_in_thread: whether a thread other than the main one recorded it, so that its position among others is chance.
        n_folded: number of values that the checksum covers, at a place with many; else 0.
    """

    source: str
    call: str
    digest: int | None
    shown: str
    place: CodeLine
    step: int = 0
    main_step: int | None = None
    n_before: int = 0
    is_in_thread: bool = False
    n_folded: int = 0


class Records:
    """Records in the order in which they were made.

    Attributes:
        heads: each once; `mores` likewise, the first one of which is empty.
        head, more: numbers of them, record by record.
        digests, steps, main_steps, ordinals: as in TraceRecord, NO_DIGEST and NONE for None.
    """

    __slots__ = (
        "_numbers", "_of_more", "digests", "head", "heads", "main_steps", "more", "mores", "ordinals", "steps"
    )  # fmt: skip

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self.mores: list[Mapping[str, object]] = [{}]
        self.head, self.more = array("l"), array("l")
        self.digests = array("Q")
        self.steps, self.main_steps, self.ordinals = array("q"), array("q"), array("q")
        self._numbers: dict[Head, int] = {}
        self._of_more: dict[tuple[tuple[str, object], ...], int] = {(): 0}

    def number_of(self, head: Head) -> int:
        number = self._numbers.setdefault(head, len(self.heads))
        if number == len(self.heads):
            self.heads.append(head)
        return number

    def number_of_more(self, more: Mapping[str, object]) -> int:
        """The number of an extra field value, such as a module, which many records share."""
        key = tuple(more.items()) if all(type(value) in SHARED for value in more.values()) else None
        number = None if key is None else self._of_more.get(key)
        if number is None:
            number = len(self.mores)
            self.mores.append(more)
            if key is not None:
                self._of_more[key] = number
        return number

    def add(self, step: int, main_step: int, head: int, ordinal: int, digest: int | None, more: int = 0) -> None:
        """Append a record.

        Args:
            main_step: NONE outside of the main loop.
            head, more: numbers, as `number_of` and `number_of_more` give them.
            digest: 64 bits of it are kept.

        Raises:
            TypeError: the digest is no whole number; nothing is added then.
        """
        self.digests.append(NO_DIGEST if digest is None else min(digest & NO_DIGEST, NO_DIGEST - 1))
        self.steps.append(step)
        self.main_steps.append(main_step)
        self.head.append(head)
        self.ordinals.append(ordinal)
        self.more.append(more)

    def of_names(self, names: Container[tuple[str, str]]) -> "Records":
        """Records whose kind and name are among `names`; ordinals stay valid, as a name is selected entirely."""
        is_chosen = [head[:2] in names for head in self.heads]
        if all(is_chosen):
            return self
        selection = Records()
        selection.heads, selection.mores = self.heads, self.mores
        chosen = [is_chosen[head] for head in self.head]
        for name in ("head", "more", "digests", "steps", "main_steps", "ordinals"):
            column = getattr(self, name)
            setattr(selection, name, array(column.typecode, compress(column, chosen)))
        return selection

    def __len__(self) -> int:
        return len(self.head)

    def __iter__(self) -> Iterator[TraceRecord]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, index: int) -> TraceRecord:
        kind, name, form, place = self.heads[self.head[index]]
        digest, main_step = self.digests[index], self.main_steps[index]
        return TraceRecord(
            step=self.steps[index],
            main_step=None if main_step == NONE else main_step,
            kind=kind,
            name=name,
            ordinal=self.ordinals[index],
            digest=None if digest == NO_DIGEST else digest,
            form=form,
            place=place,
            more=dict(self.mores[self.more[index]]),
        )


@dataclass(slots=True)
class Trace:
    """The trace of one process.

    Attributes:
        rank: of the process among those that train together; 0 for a single process.
        level: position of its level in RUNGS, from 1.
        first, until: first step at that level, and the first one after; None if it goes to the end.
        n_steps: number of complete updates.
        is_whole: whether the process ended normally.
        pid: process id.
        ends: framework to the highest level that it supports, and why not more, in words.
        inputs: what entered from outside, in order.
        watched, ran: lines of the program, as file and line, of which it is recorded whether they ran, and those that
            did.
    """

    rank: int
    level: int
    first: int
    until: int | None
    records: Records
    n_steps: int
    is_whole: bool = True
    pid: int = 0
    ends: dict[str, tuple[int, str]] = field(default_factory=dict)
    inputs: list[InputEvent] = field(default_factory=list)
    watched: set[tuple[str, int]] = field(default_factory=set)
    ran: set[tuple[str, int]] = field(default_factory=set)


def read_file(path: Path, texts: Texts) -> list[Trace]:
    """The traces of a file; a process that replaced itself by another program continues in the same file.

    A process that computed nothing has a trace if it executed watched lines.

    A line that is damaged or cut off is left out, and so is the rest of a file that cannot be read.

    Raises:
        RecordError: another version of deviate wrote it.
    """
    readers = [_Reader(path, texts)]
    with suppress(OSError):
        for event in json_lines(path):
            if _begins(event) and readers[-1].is_begun:
                readers.append(_Reader(path, texts))
            readers[-1].take(event)
    return [reader.trace for reader in readers if reader.is_begun or reader.trace.ran]


def _begins(event: Any) -> bool:
    """Whether a line is the first one of a process; a damaged line is not."""
    return isinstance(event, list) and event[:1] == ["start"] and len(event) == 3 and "pid" in event[2]


class _Reader:
    """Fills the trace of one process, line by line."""

    def __init__(self, path: Path, texts: Texts) -> None:
        self.path = path
        self.texts = texts
        self.trace = Trace(rank=0, level=1, first=0, until=None, records=Records(), n_steps=0, is_whole=False)
        if match := re.fullmatch(r"trace-([0-9a-f]+)\.jsonl", path.name):
            self.trace.pid = int(match[1], 16)
        self.heads: dict[tuple[str, str, str, int], int] = {}
        self.places: dict[int, CodeLine] = {}
        self.counts: dict[tuple[str, str], int] = {}
        self.main_step = NONE

    @property
    def is_begun(self) -> bool:
        """Whether there are records after the start; a process that computed nothing has no trace."""
        return _has_computed(self.trace) or bool(self.trace.inputs)

    def take(self, event: Any) -> None:
        """Process a line; a damaged one is left out."""
        try:
            if event[0] in MARKS:
                self.mark(event)
            else:
                self.record(*event)
        except BAD:
            return

    def mark(self, event: list[Any]) -> None:
        """Process a line that is not a record. Raises ValueError for a mark with a wrong number of items."""
        trace = self.trace
        match event:
            case ["start", number, facts]:
                self.start(number, facts)
            case ["place", number, file, line]:
                self.places[number] = self.texts.place(file, line)
            case ["main", step]:
                self.main_step = int(step)
            case ["step", step, _] if 0 <= step < 1 << 53:  # an absurd one would hide what follows
                trace.n_steps = int(step)
                self.counts.clear()
            case ["ends", framework, level, reason]:
                trace.ends[framework] = (int(level), str(reason))
            case ["end", *_]:
                trace.is_whole = True
            case ["input", source, call, digest, shown, place, more]:
                trace.inputs.append(
                    InputEvent(
                        source=str(source),
                        call=str(call),
                        digest=None if digest is None else int(digest),
                        shown=str(shown),
                        place=self.places[place],
                        step=trace.n_steps,
                        main_step=None if self.main_step == NONE else self.main_step,
                        n_before=len(trace.records),
                        is_in_thread=bool(more.get("thread")),
                        n_folded=int(more.get("folded", 0)),
                    )
                )
            case ["ran", place]:
                trace.ran.add((self.places[place].file, self.places[place].line))
            case _:
                raise ValueError("no mark")

    def record(self, kind: str, name: str, digest: int | None, form: str, place: int, more: dict[str, Any]) -> None:
        key, records = (kind, name, form, place), self.trace.records
        head = self.heads.get(key)
        if head is None:
            if not type(kind) is type(name) is type(form) is str:
                raise ValueError("no record")
            head = self.heads[key] = records.number_of((kind, name, form, self.places.get(place)))
        number = records.number_of_more(self._extra_fields(more)) if more else 0
        ordinal = self.counts.get(key[:2], 0)
        records.add(self.trace.n_steps, self.main_step, head, ordinal, digest, number)
        self.counts[key[:2]] = ordinal + 1

    def _extra_fields(self, more: Mapping[str, Any]) -> Mapping[str, object]:
        if "rows" in more:
            return {**more, "rows": array("L", more["rows"])}
        if "called" in more:
            return {**more, "called": self.places.get(more["called"])}
        return more

    def start(self, number: int, facts: dict[str, Any]) -> None:
        if number != SCHEMA:
            raise RecordError(f"{self.path} has schema {number} and not {SCHEMA}", "use the deviate that wrote it")
        trace = self.trace
        trace.rank, trace.level, trace.first = int(facts["rank"]), int(facts["level"]), int(facts["from"])
        trace.until = None if facts["until"] is None else int(facts["until"])
        trace.watched = {(file, line) for file, line in facts.get("watched", ())}


def read_traces(attempt: Path) -> tuple[Trace, ...]:
    """The traces of all processes of an attempt that computed something, by rank; if none did, of all with inputs.

    Processes that give themselves the same rank, as those without one do, are numbered in the order in which they
    started: the first keeps its rank, the others follow after the largest. Watched lines that another process executed,
    such as the worker of a data loader, are added to the first trace.

    Raises:
        RecordError: another version of deviate wrote them.
    """
    texts = texts_of(attempt)
    starts = _starts(attempt)
    every = [
        trace for path in sorted(artifacts_folder(attempt).glob("trace-*.jsonl")) for trace in read_file(path, texts)
    ]
    read = [trace for trace in every if _has_computed(trace)] or [trace for trace in every if trace.inputs]
    in_time = sorted(read, key=lambda trace: (starts.get(trace.pid, 0), trace.pid))
    first = {trace.rank: trace for trace in reversed(in_time)}
    repeated = [trace for trace in in_time if first[trace.rank] is not trace]
    beyond = max(first, default=0) + 1
    for at, trace in enumerate(repeated):
        trace.rank = beyond + at
    read.sort(key=lambda trace: trace.rank)
    for trace in read[:1]:
        trace.ran = trace.ran.union(*(other.ran for other in every if not any(other is one for one in read)))
    return tuple(read)


def _has_computed(trace: Trace) -> bool:
    return bool(trace.records or trace.n_steps)


def kept_array(attempt: Path, rank: int, step: int) -> "npt.NDArray[Any] | None":
    """The stored array of the given record; None if there is none, or if its file is damaged.

    Raises:
        RecordError: as `read_traces`.
    """
    from deviate.records.stored_arrays import names_in, read_array

    name = f"step-{step}"
    for trace in read_traces(attempt):
        for path in sorted(artifacts_folder(attempt).glob(f"kept-{trace.pid:x}-*.npz")) if trace.rank == rank else ():
            with suppress(RecordError):
                if name in names_in(path):
                    return read_array(path, name)
    return None


def _starts(attempt: Path) -> dict[int, int]:
    """Start time of each process in microseconds, as used in the names of event files."""
    starts: dict[int, int] = {}
    for path in event_files(attempt):
        if match := re.match(r"events-(\d+)-([0-9a-f]+)", path.name):
            starts.setdefault(int(match[1]), int(match[2], 16))
    return starts
