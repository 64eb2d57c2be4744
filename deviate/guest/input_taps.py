"""The taps of inputs, which the files of traced runs call: orders of sets, hashes, clocks, writes of threads, markers.

Each returns its argument, or for callees something that gives what they give. The cost at a place is bounded: after
MOST_AT_PLACE evaluations only one in SAMPLED is looked at.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from functools import partial
from itertools import islice
from os import getpid  # before a function that records calls is put in its place
from sys import _getframe
from threading import get_ident
from types import FrameType, MethodType

from . import taps
from .annotations import TYPE_CHECKING, Any
from .fixed_clock import FixedClock, fixed_clock
from .input_values import describe, is_by_address
from .observers.trace import SCHEMA

if TYPE_CHECKING:
    from typing import TypeVar

    from .adapter_context import AdapterContext
    from .observers.inputs import Inputs

    V = TypeVar("V")

MOST_AT_PLACE = 200
SAMPLED = 64
MOST_ITEMS = 256
"""Items of a set that are looked at."""
MOST_SHOWN = 4
NUMBERS = frozenset({int, float, bool, complex})
"""Types whose hashes are the same in all processes, and so the orders of sets of them."""
HASH, ID = hash, id
CLOCKS = ("now", "today", "utcnow")
CALLEES = (type(len), MethodType)

# Known once the guest has started: no tap is called before.
_inputs: Inputs
_context: AdapterContext
_counts: dict[tuple[int, int], int] = {}
_waiting: dict[int, list[tuple[str, int]]] = {}
_clock: FixedClock | None = None


def install(context: AdapterContext, watched: dict[str, list[Any]], names: Any) -> None:
    """Make the taps available in every module of the process; without a trace they only return their arguments.

    Args:
        watched: file, line and number of the marker of each watched line.
    """
    global _inputs, _context, _clock
    _inputs, _context = context.inputs, context
    _clock = fixed_clock(context)
    names.__deviate_order__ = order
    names.__deviate_callee__ = callee
    names.__deviate_write__ = write
    names.__deviate_ran__ = ran
    if _inputs.is_active:
        for file, line, marker in watched.values():
            _waiting.setdefault(marker, []).append((file, line))
        context.trace.watched = [(file, line) for file, line, _ in watched.values()]


# ------------------------------------------------------------ orders


def order(value: V) -> V:
    """For an expression whose items are taken in order, or one of them by `pop()`."""
    if (type(value) is set or type(value) is frozenset) and not taps.is_compiling():
        with _context.recorder.guarded("input"):
            _record_order(value, _getframe(1))
    return value


def _record_order(items: Any, frame: FrameType) -> None:
    if len(items) < 2 or not _is_due(frame):
        return
    try:
        first = list(islice(items, MOST_ITEMS))
    except RuntimeError:  # another thread changes the set
        return
    if all(type(item) in NUMBERS for item in first):
        return
    kinds = sorted({type(item).__name__ for item in first})
    what = "set of %s" % ", ".join(kinds[:MOST_SHOWN])
    texts = [describe(item, _context.project.work) for item in first]
    place = _inputs.place(frame)
    if len(set(texts)) == 1:
        shown = "a set of %d %s objects, ordered by address" % (len(items), kinds[0])
        _inputs.record("address", what, None, place, shown)
        return
    more = ", ..." if len(items) > MOST_SHOWN else ""
    shown = "%d items: %s%s" % (len(items), ", ".join(texts[:MOST_SHOWN]), more)
    _inputs.record("set-order", what, "%d\n%s" % (len(items), "\n".join(texts)), place, shown)


def _is_due(frame: FrameType) -> bool:
    """Whether this evaluation at a place is looked at."""
    if not _inputs.is_active:
        return False
    key = id(frame.f_code), frame.f_lasti
    count = _counts[key] = _counts.get(key, 0) + 1
    return count <= MOST_AT_PLACE or not count % SAMPLED


# ------------------------------------------------------------ callees


def callee(function: Any) -> Any:
    """For the callee `hash` or `id`, or a method that reads the clock: itself, or what stands for it."""
    if type(function) not in CALLEES or taps.is_compiling():
        return function
    with _context.recorder.guarded("input"):
        if function is HASH:
            return _hash if _is_due(_getframe(1)) else function
        if function is ID:
            _record_id(_getframe(1))
        elif function.__name__ in CLOCKS and _is_date(function):
            if _is_due(_getframe(1)):
                _record_clock(function, _getframe(1))
            return function if _clock is None else partial(_fixed_reading, _clock, function)
    return function


def _hash(*args: Any, **kwargs: Any) -> int:
    result = HASH(*args, **kwargs)
    if type(args[0]) not in NUMBERS:
        with _context.recorder.guarded("input"):
            _record_hash(args[0], result, _getframe(1))
    return result


def _record_hash(value: object, result: int, frame: FrameType) -> None:
    place = _inputs.place(frame)
    call = "hash(%s)" % describe(value, _context.project.work)
    if is_by_address(value):
        _inputs.record("address", call, None, place, "by address")
    else:
        _inputs.record("hash", call, str(result), place)


def _record_id(frame: FrameType) -> None:
    key = id(frame.f_code), frame.f_lasti
    if key not in _counts and _inputs.is_active:
        _counts[key] = 1
        _inputs.record("address", "id()", None, _inputs.place(frame), "an address")


def _is_date(function: Any) -> bool:
    """Whether a method is that of `datetime`, `pandas.Timestamp` or a class of these.

    `today` of the standard library calls `time.time`, for which another function stands.
    """
    owner = function.__self__
    is_method = type(function) is MethodType
    if not isinstance(owner, type) or (is_method and not owner.__module__.startswith("pandas")):
        return False
    is_date = any((base.__module__, base.__name__) == ("datetime", "datetime") for base in owner.__mro__)
    return is_date and (is_method or function.__name__ != "today")


def _record_clock(function: Any, frame: FrameType) -> None:
    """Record a reading of our own, so that no frame of ours is between the script and the method."""
    owner = function.__self__
    module = sys.modules["datetime"]
    kind = module.datetime if issubclass(owner, module.datetime) else module.date
    value = "fixed" if _clock is not None else kind.today().isoformat()
    _inputs.record("clock", "%s.%s()" % (owner.__name__, function.__name__), value, _inputs.place(frame))


def _fixed_reading(clock: FixedClock, function: Any, tz: Any = None) -> Any:
    owner, seconds = function.__self__, clock.now_ns() / 1e9
    if function.__name__ == "utcnow":
        return owner.utcfromtimestamp(seconds)
    return owner.fromtimestamp(seconds) if tz is None else owner.fromtimestamp(seconds, tz)


# ------------------------------------------------------------ threads


def write(value: V) -> V:
    """For a value that is written to an object which other threads may have."""
    if get_ident() != _context.streams.thread and not taps.is_compiling():
        with _context.recorder.guarded("input"):
            _record_write(value, _getframe(1))
    return value


def _record_write(value: object, frame: FrameType) -> None:
    if not _is_due(frame):
        return
    thread = threading._active.get(get_ident())  # type: ignore[attr-defined]  # current_thread() may create an object
    name = "a thread" if thread is None else thread.name
    text, shown = name, name
    if _is_plain(value):
        text = describe(value, _context.project.work)
        shown = "%s: %s" % (name, text)
    _inputs.record("thread-order", "write of a thread", text, _inputs.place(frame), shown, is_ordered=True)


WRITTEN = NUMBERS | {str, bytes, type(None)}
"""Types of values by which writes are compared, also in a tuple; others by the names of their threads."""


def _is_plain(value: object) -> bool:
    return type(value) in WRITTEN or (type(value) is tuple and all(type(item) in WRITTEN for item in value))


# ------------------------------------------------------------ markers


def ran(number: int, value: V) -> V:
    """For an expression of a line that is watched."""
    if number in _waiting and not taps.is_compiling():
        with _context.recorder.guarded("input"):
            _record_ran(number)
    return value


def _record_ran(number: int) -> None:
    trace = _context.trace
    for file, line in _waiting.pop(number):
        if trace.pid != getpid():
            _tell_from_fork(file, line)
        elif trace.level:
            trace.file.add("ran", trace.number_of(file, line))


def _tell_from_fork(file: str, line: int) -> None:
    """Write the line at once, to a file of the forked process, whose trace has ended."""
    folder, pid = _context.trace.file.folder, getpid()
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "trace-%x.jsonl" % pid)
    facts = {"rank": 0, "pid": pid, "level": 1, "from": 0, "until": None}
    start = [] if os.path.exists(path) else [["start", SCHEMA, facts]]
    with open(path, "a", encoding="utf-8") as out:
        lines = [*start, ["place", 0, file, line], ["ran", 0]]  # a place may be given anew
        out.write("".join(json.dumps(entry) + "\n" for entry in lines))
