"""The trace of a process: checksums of what it computed, record by record, for comparing two runs.

A record has a description and a checksum, not the numbers themselves unless they were requested. The level, which is
the rung of the ladder that the trace is for, controls how much is recorded. Nothing here draws random numbers, starts a
thread, or keeps an array of the program alive.

Steps count completed updates of the weights: everything before the first update is step 0. If no framework reports
updates, steps of the main loop are counted.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from itertools import count
from json.encoder import encode_basestring_ascii as _quoted
from threading import get_ident
from time import perf_counter
from types import FrameType

from ..annotations import TYPE_CHECKING, Any, Array, Callable
from ..npz import write_npz
from ..pool_workers import is_pool_worker
from ..seeds import wraps_like

if TYPE_CHECKING:
    from typing import Union

    from ..project import GuestProject
    from ..recorder import Recorder

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
        n_lines = len(self.lines)  # other threads may add lines now
        lines = self.lines[:n_lines]
        del self.lines[:n_lines]
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


LOSS, STEPS, MODULES, OPERATIONS = 1, 2, 3, 4
"""Levels. Each one records what those below it do, as far as its costs allow."""
WINDOW_S = 0.25
"""Records wait at most so long in memory, or up to the end of the step …"""
MOST_WAITING = 20000
"""… or until there are so many."""
UNKNOWN = ""
"""Stands for a file whose place in the project was not asked for yet."""


class TraceWriter:
    """Records what this process computes, as far as the spec requests it.

    Args:
        wanted: of `Spec.capture`: `trace`, the level; `trace-from` and `trace-until`, the first step at that level and
            the first one after, where the process ends (absent: all steps); `trace-keep`, the kind, the name and the
            ordinal within its step, with "|" between, of records whose arrays are kept.

    Attributes:
        level: of the records that are wanted now; 0 for none, as before the trace was opened and in forked processes.
        step: updates that are complete.
        has_sums: whether records of numbers tell sums as well, by which two environments are compared.
        at_level: told whenever the level changes, between two steps; adapters put themselves in.
        at_flush: told before records are written; adapters fetch what waits on accelerators, all at once.
        at_step_end: told before a step ends, while its lines can still be added.
        at_boundary: told where the main loop goes on or ends, and where the process does: an update of which nothing
            else tells that it is complete is so by now.
        requested_level: the level of the window; 0 for no trace.
        first, until: first step of the window, and the first one after (None: all that follow).
        thread: the one that trains.
        watched: lines of the project, as file and line, of which the trace tells whether they ran.
    """

    def __init__(self, wanted: dict[str, str], folder: str, recorder: Recorder, project: GuestProject) -> None:
        self.requested_level = int(wanted.get("trace", "0"))
        self.first = int(wanted.get("trace-from", "0"))
        self.until = int(wanted["trace-until"]) if "trace-until" in wanted else None
        kind, _, rest = wanted.get("trace-keep", "").partition("|")
        name, _, ordinal = rest.rpartition("|")
        self.keep = (kind, name)
        self.keep_ordinal = int(ordinal or 0)
        self.has_sums = wanted.get("trace-sums") == "on"
        self.recorder = recorder
        self.project = project
        self.pid = os.getpid()
        self.thread = get_ident()
        self.file = TraceFile(folder, self.pid, self._facts)
        self.at_level: list[Callable[[int], object]] = []
        self.at_flush: list[Callable[[], object]] = []
        self.at_step_end: list[Callable[[], object]] = []
        self.at_boundary: list[Callable[[], object]] = []
        self.watched: list[tuple[str, int]] = []
        self.level = 0
        self.step = 0
        self.has_updates = False
        self.is_closing = False
        self.files: dict[str, str | None] = {}
        self.places: dict[tuple[str, int], int] = {}
        self.numbers = count()
        self.ended: set[str] = set()
        self.n_kept = 0
        self.began = perf_counter()
        self.flushed = 0.0
        if self.requested_level:
            recorder.at_main_step.append(self._main_step)
            recorder.at_main_end.append(self._main_end)
            recorder.at_close.append(self.close)
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=self.leave)
            self._close_before_exit()
            self.level = self._level_of_step()

    # ------------------------------------------------------------ records

    def record(
        self,
        kind: str,
        name: str,
        digest: Digest,
        form: str = "",
        place: int = -1,
        give: Callable[[], Array] | None = None,
        **more: object,
    ) -> None:
        """Add one record.

        Args:
            kind: one of those that docs/reference/traces.md lists.
            name: what is recorded: a parameter, the path of a module, an operation.
            digest: checksum of type, shape and bytes; None where it is not to be compared; or what gives it, and what
                else is known, when the record is written.
            form: type and shape, such as "float32[512,10]".
            place: number of the place in the user's program, as `place` gives it.
            give: gives the array, for records that are kept.
            more: what else is known, as JSON has it; values that are not to be compared.
        """
        self.file.lines.append(record_line(kind, name, digest, form, place, more))
        if name == self.keep[1] and kind == self.keep[0] and give is not None and self.level == self.requested_level:
            if self.n_kept == self.keep_ordinal:
                self.file.keep("step-%d" % self.step, give())
            self.n_kept += 1

    def place(self, frame: FrameType | None) -> int:
        """Number of the nearest place in the project, searching outwards from `frame`; -1 if there is none."""
        files = self.files
        while frame is not None:
            name = frame.f_code.co_filename
            file = files.get(name, UNKNOWN)
            if file == UNKNOWN:
                file = files[name] = self.project.file(name)
            if file is not None:
                return self.number_of(file, frame.f_lineno)
            frame = frame.f_back
        return -1

    def place_of(self, file: str, line: int) -> int:
        """Number of a line of a file; -1 if it is not in the project."""
        name = self.project.file(file)
        return -1 if name is None else self.number_of(name, line)

    def number_of(self, file: str, line: int) -> int:
        """Number of a line of the project."""
        number = self.places.get((file, line))
        if number is None:
            new = next(self.numbers)  # two threads may give two numbers to one place, but never one to two
            self.file.add("place", new, file, line)
            number = self.places.setdefault((file, line), new)
        return number

    def attempt(self, where: str, act: Callable[[], object]) -> None:
        """Call a function if tracing is active; an error in it is recorded as a fault of the guest."""
        if self.level:
            with self.recorder.guarded(where):
                act()

    def ends(self, framework: str, level: int, reason: str) -> None:
        """Record once that a framework shows nothing above a level, with the reason for the user."""
        if self.level and framework not in self.ended:
            self.ended.add(framework)
            self.file.add("ends", framework, level, reason)

    # ------------------------------------------------------------ steps

    def tick(self) -> None:
        """A weight update is complete: end the current step and begin the next."""
        if self.level:
            self.has_updates = True
            self._end_step()

    def _main_step(self, step: int) -> None:
        """The main loop begins a step, which counts as an update if none was reported since the last step."""
        if not self.level or self.pid != os.getpid():
            return
        self.recorder.tell(self.at_boundary)
        if step and not self.has_updates:
            self._end_step()
        self.has_updates = False
        self.file.add("main", step)

    def _main_end(self) -> None:
        """The main loop has ended; the weights still exist, which may no longer be true when the process ends."""
        if self.level and self.pid == os.getpid():
            self.recorder.tell(self.at_boundary)

    def _end_step(self) -> None:
        try:
            self._tick()
        except Exception as error:
            self.recorder.fault("trace", error)
            self.leave()

    def _tick(self) -> None:
        now = perf_counter()
        if self.at_step_end:
            self.recorder.tell(self.at_step_end)
        self.step += 1
        self.n_kept = 0
        self.file.add("step", self.step, round(now - self.began, 6))
        if now - self.flushed >= WINDOW_S or len(self.file.lines) >= MOST_WAITING or self.file.arrays:
            self.flushed = now
            self.flush()
            if not self.level:
                return
        if self.until is not None and self.step >= self.until and not self.is_closing:
            self.stop()
        self._set_level(self._level_of_step())

    def _level_of_step(self) -> int:
        return self.requested_level if self.first <= self.step else LOSS

    def follow_thread(self, thread: int) -> None:
        """Another thread trains from now on, the one that calls this."""
        level = self.level
        self._set_level(0)
        self.thread = thread
        self._set_level(level)

    def _set_level(self, level: int) -> None:
        if level != self.level:
            self.level = level
            self.recorder.tell([partial(listener, level) for listener in self.at_level])

    # ------------------------------------------------------------ the file

    def flush(self) -> None:
        """Write pending lines: complete steps only, so that a killed process leaves complete steps."""
        self.recorder.tell(self.at_flush)
        if not self.file.path and is_pool_worker():
            lines = [line for line in self.file.lines if isinstance(line, str) and line.startswith(OF_WORKERS)]
            self.leave()
            self.file.lines += lines
        if not self.file.lines:
            return
        self.file.write(self.step)

    def _facts(self) -> dict[str, object]:
        window = {"level": self.requested_level, "from": self.first, "until": self.until}
        return {"rank": self._rank(), "pid": self.pid, **window, "watched": self.watched}

    def _rank(self) -> int:
        """Rank of this process, else its place among the processes that its parent has started.

        Source: `multiprocessing.process.BaseProcess`, which numbers the children of a process from 1.
        """
        if self.recorder.rank is not None:
            return self.recorder.rank
        processes = sys.modules.get("multiprocessing.process")
        identity = getattr(processes.current_process(), "_identity", ()) if processes is not None else ()
        return int(identity[-1]) - 1 if identity else 0

    def close(self) -> None:
        """Write what is left, because the process ends or everything requested was recorded."""
        if not self.level or self.pid != os.getpid():
            return
        self.is_closing = True
        self.recorder.tell(self.at_boundary)
        self.recorder.tell(self.at_step_end)
        self._set_level(0)
        self.file.add("end", self.step, round(perf_counter() - self.began, 6))
        if self.step or len(self.file.lines) > 1:
            self.flush()

    def _close_before_exit(self) -> None:
        """Close before `os._exit` too, which runs no exit handlers; programs with hanging libraries call it."""
        original = os._exit

        def _exit(status: int) -> None:
            self.recorder.tell([self.close])
            original(status)

        os._exit = wraps_like(_exit, original)

    def stop(self) -> None:
        """End the process, as the rest of the training would not be recorded."""
        self.close()
        self.recorder.close()
        processes = sys.modules.get("multiprocessing")
        for child in [] if processes is None else processes.active_children():
            child.terminate()  # workers of data loaders would run for some seconds until they notice
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # closed by the program
                pass
        os._exit(0)

    def leave(self) -> None:
        """Stop tracing: a forked process computes on behalf of its parent, which records the results."""
        self._set_level(0)
        del self.file.lines[:]


OF_WORKERS = ('["place"', '["ran"')
"""Beginnings of the lines that the workers of a pool keep."""
