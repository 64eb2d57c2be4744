"""Clocks of the module `time` that the project reads, and the fixed clock in their place for the cure `clock=fixed`.

Methods of `datetime` are written in C and read the clock by themselves, except `today`, which calls `time.time`.
"""

from __future__ import annotations

from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...fixed_clock import FixedClock, fixed_clock
from ...observers.inputs import MOST_AT_PLACE
from ...stand_ins import stand_in
from .callers import Callers

MODULES = ("time",)
NUMBERS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
"""Functions without an argument that give seconds; with `_ns`, nanoseconds."""
FORMATTED = {"localtime": 0, "gmtime": 0, "ctime": 0, "asctime": 0, "strftime": 1}
"""Functions that read the clock if they get no more arguments than these."""


def install(module: Any, context: AdapterContext) -> None:
    clock = fixed_clock(context)
    for name in NUMBERS:
        for suffix in ("", "_ns"):
            if hasattr(module, name + suffix):
                _patch(module, name + suffix, None if clock is None else _fixed_number(name, suffix, clock), 0, context)
    localtime = module.localtime
    for name, n_arguments in FORMATTED.items():
        fixed = None if clock is None else _fixed_text(name, getattr(module, name), localtime, clock)
        _patch(module, name, fixed, n_arguments, context)
    if clock is not None:
        _patch_sleep(module, clock, context.part(Callers))


def _fixed_number(name: str, suffix: str, clock: FixedClock) -> Callable[[], float]:
    read = clock.now_ns if name == "time" else clock.elapsed_ns
    return read if suffix else lambda: read() / 1e9


def _fixed_text(name: str, original: Any, localtime: Any, clock: FixedClock) -> Callable[..., Any]:
    if name in ("asctime", "strftime"):
        return lambda *args: original(*args, localtime(clock.now_ns() / 1e9))
    return lambda: original(clock.now_ns() / 1e9)


def _patch(module: Any, name: str, fixed: Callable[..., Any] | None, n_arguments: int, context: AdapterContext) -> None:
    """Record the first readings of each place: later ones cannot be equal either."""
    original, where = getattr(module, name), "time.%s()" % name
    read, frame_of, inputs, is_project = fixed or original, _getframe, context.inputs, context.part(Callers).is_project

    def call(*args: Any, **kwargs: Any) -> Any:
        frame = frame_of(1)
        if len(args) > n_arguments or kwargs or not is_project(frame):
            return original(*args, **kwargs)
        result = read(*args)
        if inputs.is_active:
            with context.recorder.guarded(where):
                place = inputs.place(frame)
                if inputs.n_at.get(("clock", place, False), 0) < MOST_AT_PLACE:
                    shown = "%.6f" % result if isinstance(result, float) else ""
                    inputs.record("clock", where, repr(result), place, shown)
        return result

    stand_in(module, name, call)


def _patch_sleep(module: Any, clock: FixedClock, callers: Callers) -> None:
    original = module.sleep

    def sleep(*args: Any) -> Any:
        result = original(*args)
        if callers.is_project(_getframe(1)):
            clock.sleep(args[0])
        return result

    stand_in(module, "sleep", sleep)
