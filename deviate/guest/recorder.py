"""The recorder: one event file per process, the running loops, and the call paths of values.

This is the hot path of the guest. Its costs are limited by design: 2 µs per recorded value, 0.5 µs per loop step.
"""

from __future__ import annotations

import os
from _weakref import ref
from functools import partial
from json.encoder import encode_basestring_ascii as _quoted
from sys import gettrace
from threading import RLock, get_ident
from time import perf_counter, time
from types import CodeType, FrameType

from ..eventlog import CUT, SCHEMA, WHOLE, encode, number_text
from .annotations import TYPE_CHECKING, Callable
from .project import GuestProject
from .values import DeferredScalar, label_numbers, read

if TYPE_CHECKING:
    from .values import Numbers

STAMP_S = 0.001
"""Resolution of the time beside a value: writing it anew for each one would cost a fifth of the tap."""
END = "]\n"
"""Of the line of a value without a label."""
JOINT = ": "
"""Between the value of a label variable and the key of an item of what is reported under it."""
UNSEEN = -1
"""The main loop of a framework that the analysis did not see."""
WINDOW_S = 0.25
"""Events wait at most this long in memory while more of them arrive …"""
EAGER = 250
"""… and the first ones of every window do not wait at all, so that a slow script is on disk at once."""
MOST_COMPARED = 64
"""Steps of a loop, each time it is entered, after which it is seen whether weights have changed."""
HIGH_FD = 200
"""File numbers of the script stay what they were: ours is moved out of the way."""


class RunningLoop:
    """A loop that has begun and not ended.

    For `while`, `frame` names the frame it runs in and `caller` the instruction that called it: a frame that is gone
    leaves its name to the next one. So the frame is marked, if it may be, by what only debuggers ask of it: whether
    they want to be told of its lines. Frames begin without that mark.
    """

    __slots__ = ("anew", "began", "caller", "code", "frame", "head", "id", "is_marked", "step", "trains", "versions")

    def __init__(self, number: int, frame: int = 0, code: CodeType | None = None, caller: int = 0) -> None:
        self.id = number
        self.head = "%d," % number
        self.step = -1
        self.frame = frame
        self.code = code
        self.caller = caller
        self.is_marked = False
        self.began = 0.0
        self.versions: dict[int, int] = {}
        self.trains = False
        self.anew = -1
        """The latest step in which a model began to be trained."""


class LoopCount:
    """How a loop ran in this process.

    Attributes:
        outer: id of the loop in which it began first, None where it began in none.
        n_begun: how often it was entered; n_steps: over all times.
        n_updated: steps, of those that are compared, in which weights changed that had existed before; -1 if unknown.
        n_anew: steps in which a model began to be trained that had not been trained before; -1 if unknown.
        seconds: that it took, over all times.
    """

    __slots__ = ("n_anew", "n_begun", "n_steps", "n_updated", "outer", "seconds")

    def __init__(self, outer: int | None) -> None:
        self.outer = outer
        self.n_begun = 0
        self.n_steps = 0
        self.n_updated = -1
        self.n_anew = -1
        self.seconds = 0.0


class Guarded:
    """A context in which errors are recorded as faults of the guest, and do not reach the user."""

    __slots__ = ("recorder", "where")

    def __init__(self, recorder: Recorder, where: str) -> None:
        self.recorder = recorder
        self.where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self.recorder.fault(self.where, error)
        return True


class LinePrefixes(dict):  # type: ignore[type-arg]  # Python 3.8 knows no dict[int, str]
    """The prefixes of a site's lines."""

    def __missing__(self, site: int) -> str:
        head = self[site] = "[%d," % site
        return head


class Recorder:
    """Writes the events of this process.

    Args:
        folder: the attempt folder.
        facts: what the start event tells.
        project: gives the loops, the fields of templates, and the project file of a code object.

    Attributes:
        rank: of this process among those that compute together; None where it is not known, or not yet.
        n_ranks: how many there are, 1 where that is not known.
        has_stepped: whether a main loop has begun, in this process or in the one that forked it.
        training: main loops that are running, all loops with taps where no main loop is known.
        is_training: whether one of them surely runs. When a `while` loop is left is seen late: it does not count.
        weight_versions: gives a number for each optimizer, which rises when its weights change; None without any.
        is_hidden: whether steps of a training are not seen, in a compiled function: then nobody knows when it ended.
        fitting: how many estimators are being fitted now, one in another; what trains inside of them is part of them.
    """

    def __init__(self, folder: str, facts: dict[str, object], project: GuestProject) -> None:
        self.folder = folder
        self.facts = facts
        self.loops = project.loops
        self.main_ids = {number for number, loop in project.loops.items() if loop[2]} | {UNSEEN}
        self.training_ids = self.main_ids if len(self.main_ids) > 1 else {UNSEEN, *project.loops}
        self.fields = project.fields
        self.place = project.place
        self.heads = LinePrefixes()
        self.rank, self.n_ranks = _rank_of_launcher()
        self.error_count = 0
        self.has_stepped = False
        self.at_main_step: list[Callable[[int], object]] = []
        self.at_main_end: list[Callable[[], object]] = []
        self.at_training: list[Callable[[], object]] = []
        self.at_training_end: list[Callable[[], object]] = []
        self.training: list[RunningLoop] = []
        self.is_training = False
        self.at_close: list[Callable[[], object]] = []
        self.at_rank: list[Callable[[], object]] = []
        self.weight_versions: Callable[[], dict[int, int]] | None = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Initialise for a new process: at the start, and in a forked child."""
        self.fd: int | None = None
        self.identity = (0, 0)
        """Device and number of the event file, which tell it from others that have its descriptor."""
        self.path = ""
        self.due = 0
        self.writing = RLock()  # a signal handler may record while its own thread writes
        self.pid = os.getpid()
        self.began = perf_counter()
        self.buffer: list[str] = []
        self.window = 0.0
        self.stamped = 0.0
        self.seconds = "0"
        self.stamp = "],0,"
        self.in_window = 0
        self.running: dict[int, list[RunningLoop]] = {}
        self.counts: dict[int, LoopCount] = {}
        self.has_while = False
        self.ways: dict[tuple[int, ...], str] = {}
        self.declared: dict[tuple[tuple[str, int], ...], int] = {}
        self.codes: dict[int, tuple[CodeType, str | None]] = {}
        self.pending: list[tuple[str, DeferredScalar, str]] = []
        self.fitting = 0
        self.is_hidden = False
        self.trained = 0.0
        self.main_models: set[int] = set()
        self.n_models = 0
        self.models: dict[int, ref[object]] = {}

    after_fork = _begin_anew

    # ------------------------------------------------------------ events out

    def emit(self, line: str) -> None:
        self.buffer.append(line)
        self._keep_up(perf_counter())

    def _keep_up(self, now: float) -> None:
        """Write pending lines, unless the write budget of this time window is used up."""
        if now - self.window >= WINDOW_S:
            self.window = now
            self.in_window = 0
        if self.in_window < EAGER:
            self.in_window += 1
            self.flush()

    def flush(self) -> None:
        """Write pending lines. The list object is kept, as other threads may be about to append to it."""
        with self.writing:
            count = len(self.buffer)
            lines = self.buffer[:count]
            del self.buffer[:count]
            if lines:
                fd = self.open() if self.fd is None else self.fd
                self._write(fd, "".join(lines).encode("utf-8", "backslashreplace"))

    def _write(self, fd: int, data: bytes) -> None:
        """Write to the file. If a full disk truncated it, its name is changed to say so, which needs no space.

        A program may close all files that it does not know, as daemons do, and the number may be that of one of its own
        files by now: then the file is opened again.
        """
        self.due += len(data)
        try:
            if not self._is_ours(fd):
                fd = self._open_high(os.O_WRONLY | os.O_APPEND)
            is_cut = os.write(fd, data) < len(data)
        except OSError:
            is_cut = True
        if is_cut and not self.path.endswith(CUT):
            cut = self.path[: -len(WHOLE)] + CUT
            os.rename(self.path, cut)
            self.path = cut

    def before_fork(self) -> None:
        """Write pending lines before a fork, so that the child does not write them a second time."""
        try:
            self.flush()
        except Exception:  # the program may have closed the file descriptor
            pass

    def open(self) -> int:
        """Create the event file, whose start event shows that the guest is active; in a fork, at its first event."""
        self.path = os.path.join(self.folder, "events-%d-%x%s" % (self.pid, int(time() * 1e6), WHOLE))
        fd = self._open_high(os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        facts = dict(self.facts, pid=self.pid, ppid=os.getppid(), time=time(), rank=self.rank)
        self._write(fd, encode("start", SCHEMA, facts).encode())
        return fd

    def _open_high(self, flags: int) -> int:
        """Open the event file, with a number that is out of the way of the script's files."""
        fd = os.open(self.path, flags | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            import fcntl

            high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH_FD)
            os.close(fd)
            fd = high
        except (ImportError, OSError):
            pass
        self.fd, status = fd, os.fstat(fd)
        self.identity = status.st_dev, status.st_ino
        return fd

    def _is_ours(self, fd: int) -> bool:
        try:
            status = os.fstat(fd)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self.identity

    def close(self) -> None:
        self.tell(self.at_close)
        try:
            self.settle()
            self._report_counts()
            if self.fd is not None or self.buffer:
                self.flush()
                self.buffer.append(encode("end", round(perf_counter() - self.began, 6), self.due))
                self.flush()
        except Exception:  # like before a fork; without an end event, the file counts as truncated
            pass

    def event(self, kind: str, *items: object) -> None:
        self.emit(encode(kind, *items))

    def set_rank(self, rank: int, n_ranks: int) -> None:
        """This process turns out to be one of several that compute together, or to have another place among them.

        A process alone, as it is in a group of one, keeps what it had.
        """
        if n_ranks > 1 and (rank, n_ranks) != (self.rank, self.n_ranks):
            self.rank, self.n_ranks = rank, n_ranks
            self.event("rank", rank, n_ranks)
            self.tell(self.at_rank)

    @property
    def is_first_rank(self) -> bool:
        """Whether this process keeps what all ranks have in common; a process alone does, whatever its rank."""
        return self.n_ranks == 1 or self.rank == 0

    def fault(self, where: str, error: Exception) -> None:
        """Record an error of the guest, a limited number of times; the user's program continues."""
        self.error_count += 1
        if self.error_count <= 20:
            try:
                self.event("error", where, "%s: %s" % (type(error).__name__, error))
            except Exception:  # a full disk must not stop the training
                pass

    def guarded(self, where: str) -> Guarded:
        """`with recorder.guarded(where):` records an error as a fault, and continues after the block."""
        return Guarded(self, where)

    def tell(self, listeners: list[Callable[[], object]]) -> None:
        """Call all listeners of an event, each guarded by itself."""
        for listener in listeners:
            try:
                listener()
            except Exception as error:
                self.fault(getattr(listener, "__qualname__", "listener"), error)

    # ------------------------------------------------------------ values

    def value(self, site: int, value: object, label: object, frame: FrameType) -> None:
        """Record a value at a site; `frame` is the frame of the tap."""
        self.numbers(site, read(value), label, frame)

    def numbers(self, site: int, numbers: Numbers, label: object, frame: FrameType) -> None:
        """Record numbers at a site, with `label` for the report and the numbers' own labels for items."""
        for text, number in label_numbers(None if label is None else str(label), numbers, JOINT):
            self.line(self.heads[site], number, frame, END if text is None else ",%s]\n" % _quoted(text))

    def named_value(self, name: str, value: object, frame: FrameType) -> None:
        """Record a value that a framework reports by name."""
        for suffix, number in read(value):
            full = name if suffix is None else "%s_%s" % (name, suffix)
            self.line('["named",%s,' % _quoted(full), number, frame, END)

    def line(self, head: str, number: float | DeferredScalar, frame: FrameType, tail: str) -> None:
        """Record one value with its time, loops and the calls that lead to `frame`: the hot path, in one function."""
        now = perf_counter()
        if now - self.stamped >= STAMP_S:
            self._stamp(now)
        stack = self.running.get(get_ident())
        if stack:
            if stack[-1].code is not None:
                self.prune(stack, frame)
            if len(stack) == 1:
                loops = f"{stack[0].head}{stack[0].step}"
            else:
                loops = ",".join([loop.head + str(loop.step) for loop in stack])
        else:
            loops = ""
        way: list[int] = []
        codes = self.codes
        caller = frame.f_back
        while caller is not None:
            code = caller.f_code  # raises an audit event, so it is done once
            number_of_code = id(code)
            way += number_of_code, caller.f_lasti
            if number_of_code not in codes:  # the reference prevents reuse of the id
                codes[number_of_code] = (code, self.place(code))
            caller = caller.f_back
        key = tuple(way)
        way_text = self.ways.get(key) or self._declare(key, frame)
        if type(number) is DeferredScalar:
            self.pending.append((f"{head}{way_text}{loops}{self.stamp}", number, tail))
            return
        text = repr(number)
        if text[-1] > "9":  # inf, nan
            text = f'"{text}"'
        self.buffer.append(f"{head}{way_text}{loops}{self.stamp}{text}{tail}")
        if now - self.window >= WINDOW_S or self.in_window < EAGER:
            self._keep_up(now)

    def _stamp(self, now: float) -> None:
        self.stamped = now
        self.seconds = "%.3f" % (now - self.began)
        self.stamp = "],%s," % self.seconds

    def settle(self) -> None:
        """Read values that are pending on accelerators."""
        pending, self.pending = self.pending, []
        for start, number, tail in pending:
            number.settle(partial(self._emit_number, start, tail))

    def _emit_number(self, start: str, tail: str, number: float) -> None:
        self.emit(start + number_text(number) + tail)

    def _declare(self, key: tuple[int, ...], frame: FrameType) -> str:
        """Declare a call path; paths that differ only in library frames are the same path of the project."""
        calls = self._calls(frame)
        with self.writing:
            number = self.declared.get(calls)
            if number is None:
                number = self.declared[calls] = len(self.declared)
                self.event("path", number, calls)
        self.ways[key] = way = "%d,[" % number
        return way

    def _calls(self, frame: FrameType) -> tuple[tuple[str, int], ...]:
        calls: list[tuple[str, int]] = []
        caller = frame.f_back
        while caller is not None:
            file = self.codes[id(caller.f_code)][1]
            if file is not None:
                calls.append((file, caller.f_lineno))
            caller = caller.f_back
        return tuple(calls[::-1])

    # ------------------------------------------------------------ loops

    def begin(self, running: RunningLoop) -> None:
        self._enter(self.running.setdefault(get_ident(), []), running)

    def _enter(self, stack: list[RunningLoop], running: RunningLoop) -> None:
        count = self.counts.get(running.id)
        if count is None:
            count = self.counts[running.id] = LoopCount(stack[-1].id if stack else None)
        count.n_begun += 1
        running.began = perf_counter()
        stack.append(running)
        if running.id in self.training_ids:
            self.training.append(running)
            if len(self.training) == 1:
                self.tell(self.at_training)
            self.is_training = self.training[0].code is None

    def end(self, running: RunningLoop) -> None:
        stack = self.running.get(get_ident())
        if stack and running in stack:
            stack.remove(running)
            self._leave(running)
            if running.id in self.main_ids:
                self.tell(self.at_main_end)

    def _leave(self, running: RunningLoop) -> None:
        """Add a loop that was left to the count of its steps."""
        if running in self.training:
            self.training.remove(running)
            self.is_training = bool(self.training) and self.training[0].code is None
            if not self.training:
                self.tell(self.at_training_end)
        count = self.counts.get(running.id)
        if count is not None:
            count.n_steps += running.step + 1
            count.seconds += perf_counter() - running.began

    def compare_weights(self, running: RunningLoop) -> None:
        """A step begins: see whether the one before has changed weights that were there when it began."""
        count = self.counts.get(running.id)
        if self.weight_versions is None or count is None:  # none: the loop began in the process that forked this one
            return
        versions = self.weight_versions()
        if versions:
            before, running.versions = running.versions, versions
            is_updated = any(before.get(number, version) != version for number, version in versions.items())
            count.n_updated = max(count.n_updated, 0) + is_updated

    def _report_counts(self) -> None:
        for stack in self.running.values():  # of a program that was left in the middle of them
            for running in stack:
                self._leave(running)
        if self.counts or self.fd is not None:  # a process that has recorded nothing writes no file
            rows = [
                (number, it.outer, it.n_begun, it.n_steps, it.n_updated, round(it.seconds, 3), it.n_anew)
                for number, it in self.counts.items()
            ]
            self.event("loops", rows)
        if self.trained and not self.is_hidden:
            self.event("trained", round(self.trained - self.began, 6), max(1, self.n_models))

    def is_in_main(self) -> bool:
        """Whether this thread is in a step of a main loop."""
        return any(loop.id in self.main_ids for loop in self.running.get(get_ident(), ()))

    def train(self, model: object = None, *, is_anew: bool = False) -> None:
        """A model was trained now: by a step of an optimizer, or as a whole.

        Args:
            model: the optimizer or estimator that stands for it; None where nothing does.
            is_anew: whether it has forgotten what it had learned before.
        """
        if self.fitting:
            return
        if id(model) not in self.main_models and self.is_in_main():
            self.main_models.add(id(model))
        if not self.main_models or id(model) in self.main_models:  # no calibrator of a trained model
            self.trained = perf_counter()
        if model is None:
            return
        known = self.models.get(id(model))
        if known is None or known() is not model:
            self.models[id(model)] = ref(model)
            self.n_models += 1
            is_anew = True
        stack = self.running.get(get_ident())
        if stack and (is_anew or not stack[-1].trains):
            for running in stack:
                count = self.counts.get(running.id)
                running.trains = True
                if count is not None:
                    count.n_anew = max(count.n_anew, 0) + (is_anew and running.anew != running.step)
                running.anew = running.step if is_anew else running.anew

    def main_step(self, loop: int, step: int) -> None:
        """The main loop begins a step. As hot as `line`, in loops that do little else."""
        self.has_stepped = True
        now = perf_counter()
        if now - self.stamped >= STAMP_S:
            self._stamp(now)
        self.buffer.append(f'["step",{loop},{step},{self.seconds}]\n')
        if now - self.window >= WINDOW_S or self.in_window < EAGER:
            self._keep_up(now)
        if self.at_main_step:
            self.tell([partial(listener, step) for listener in self.at_main_step])

    def while_step(self, loop: int, frame: FrameType) -> RunningLoop:
        """A `while` condition is evaluated: of a loop that continues in this frame, or of a new one."""
        self.has_while = True
        stack = self.running.setdefault(get_ident(), [])
        self.prune(stack, frame)
        caller = -1 if frame.f_back is None else frame.f_back.f_lasti
        running = stack[-1] if stack else None
        if running is None or running.id != loop or running.frame != id(frame):
            running = RunningLoop(loop, id(frame), frame.f_code, caller)
            if gettrace() is None:
                running.is_marked, frame.f_trace_lines = True, False
            self._enter(stack, running)
        elif running.caller != caller and not running.is_marked:  # an unmarked frame has been left
            self._leave(stack.pop())
            running = RunningLoop(loop, id(frame), frame.f_code, caller)
            self._enter(stack, running)
        running.step += 1
        return running

    def leave_whiles(self, frame: FrameType) -> None:
        """A `for` loop continues in this frame: `while` loops inside of it, or in functions it called, have ended."""
        stack = self.running.get(get_ident())
        if stack:
            self.prune(stack, frame)

    def prune(self, stack: list[RunningLoop], frame: FrameType) -> None:
        """Remove `while` loops that were left by `break`, `return` or an exception, which are not observed."""
        while stack and stack[-1].code is not None:
            running = stack[-1]
            owner: FrameType | None = frame
            while owner is not None and (
                id(owner) != running.frame
                or owner.f_code is not running.code
                or (running.is_marked and owner.f_trace_lines)
            ):
                owner = owner.f_back
            if owner is not None:
                line, end_line, _ = self.loops[running.id]
                if line <= owner.f_lineno <= end_line:
                    return
            self._leave(stack.pop())


def _rank_of_launcher() -> tuple[int | None, int]:
    """The rank that a launcher gave and, if it gave that too, the number of ranks, else 1.

    Source: environment variables of torchrun. Variables of these names may also be somebody else's.
    """
    rank, n_ranks = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
    if not rank.isdecimal():
        return None, 1
    return int(rank), int(n_ranks) if n_ranks.isdecimal() and int(rank) < int(n_ranks) else 1
