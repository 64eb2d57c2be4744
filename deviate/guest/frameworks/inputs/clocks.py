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
    clocks = Clocks(context)
    for name in NUMBERS:
        for suffix in ("", "_ns"):
            if hasattr(module, name + suffix):
                fixed = None if clock is None else _fixed_number(name, suffix, clock)
                clocks.patch(module, name + suffix, fixed, 0)
    localtime = module.localtime
    for name, n_arguments in FORMATTED.items():
        fixed = None if clock is None else _fixed_text(name, getattr(module, name), localtime, clock)
        clocks.patch(module, name, fixed, n_arguments)
    if clock is not None:
        clocks.patch_sleep(module, clock)


def _fixed_number(name: str, suffix: str, clock: FixedClock) -> Callable[[], float]:
    read = clock.now_ns if name == "time" else clock.elapsed_ns
    return read if suffix else lambda: read() / 1e9


def _fixed_text(name: str, original: Any, localtime: Any, clock: FixedClock) -> Callable[..., Any]:
    if name in ("asctime", "strftime"):
        return lambda *args: original(*args, localtime(clock.now_ns() / 1e9))
    return lambda: original(clock.now_ns() / 1e9)


class Clocks:
    """Records the first readings of each place: later ones cannot be equal either."""

    def __init__(self, context: AdapterContext) -> None:
        self.inputs = context.inputs
        self.recorder = context.recorder
        self.callers = context.part(Callers)
        self.counts: dict[tuple[Any, int], int] = {}

    def patch(self, module: Any, name: str, fixed: Callable[..., Any] | None, n_arguments: int) -> None:
        original = getattr(module, name)
        read = fixed or original
        where = "time.%s()" % name
        modules, counts, frame_of, callers, inputs = (
            self.callers.modules, self.counts, _getframe, self.callers, self.inputs
        )  # fmt: skip

        def call(*args: Any, **kwargs: Any) -> Any:
            frame = frame_of(1)
            file: Any = frame.f_globals.get("__file__")
            is_project = modules.get(file)  # the first look-up of `is_project`, without a call
            if is_project is None:
                is_project = callers.is_project(frame)
            if not is_project or len(args) > n_arguments or kwargs:
                return original(*args, **kwargs)
            result = read(*args)
            key = file, frame.f_lineno
            count = counts.get(key, 0)
            if count < MOST_AT_PLACE and inputs.is_active:
                counts[key] = count + 1
                with self.recorder.guarded(where):
                    inputs.record("clock", where, repr(result), inputs.place(frame), _text(result))
            return result

        stand_in(module, name, call)

    def patch_sleep(self, module: Any, clock: FixedClock) -> None:
        original, callers = module.sleep, self.callers

        def sleep(*args: Any) -> Any:
            result = original(*args)
            if callers.is_project(_getframe(1)):
                clock.sleep(args[0])
            return result

        stand_in(module, "sleep", sleep)


def _text(result: object) -> str:
    return "%.6f" % result if isinstance(result, float) else ""
