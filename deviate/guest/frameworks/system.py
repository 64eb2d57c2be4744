"""Calls of the operating system by the program: entropy, which cannot be seeded, and signals to itself.

Requests for entropy by the project are recorded. A run that a signal of its own has ended is not considered as ended
from outside.
"""

from __future__ import annotations

import os
from sys import _getframe
from types import FrameType

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..project import outwards

SOURCES = {
    "os": ("urandom", "getrandom"),
    "secrets": ("token_bytes", "token_hex", "token_urlsafe", "randbits", "randbelow", "choice"),
    "uuid": ("uuid1", "uuid4", "uuid6", "uuid7"),
}
MODULES = (*SOURCES, "signal")


def install(module: Any, context: AdapterContext) -> None:
    if context.streams.is_active or context.watches_inputs:
        for name in SOURCES.get(module.__name__, ()):
            _record_draws(module, name, context)
    if module.__name__ == "os":
        _record_signals(module, "kill", context, lambda pid, number: pid in (os.getpid(), 0, -os.getpgrp()))
        _record_signals(module, "killpg", context, lambda group, number: group in (os.getpgrp(), 0))
    elif module.__name__ == "signal":
        _record_signals(module, "raise_signal", context, lambda number: True)


def _record_draws(module: Any, name: str, context: AdapterContext) -> None:
    call = "%s.%s" % (module.__name__, name)
    places: set[tuple[str, int]] = set()

    def draw(result: object, *args: Any, **kwargs: Any) -> None:
        frame = _getframe(2)
        file = context.project.place(frame.f_code)
        if file is None:
            return
        if context.streams.is_active and (file, frame.f_lineno) not in places:
            places.add((file, frame.f_lineno))
            context.recorder.event("uncontrolled", call, file, frame.f_lineno)
        if context.inputs.is_active:
            place = context.inputs.place(frame)
            context.inputs.record("entropy", "%s()" % call, repr(result), place, "random numbers")

    context.observe(module, name, after=draw, where=call)


def _record_signals(module: Any, name: str, context: AdapterContext, reaches_this_process: Any) -> None:
    """Patch a function of the module to record signals that it sends to this process."""

    def send(*args: Any, **kwargs: Any) -> None:
        frame = _getframe(2)
        number = int(args[-1])
        if number and reaches_this_process(*args) and not _is_handling(number, frame):
            context.recorder.event("signal", number, *context.project.nearest(frame))
            context.recorder.flush()  # the process may end now

    context.observe(module, name, before=send, where="%s.%s" % (module.__name__, name))


def _is_handling(number: int, frame: FrameType | None) -> bool:
    """Whether a handler of this signal is running: programs save their state and then send the signal again.

    Python calls a handler with the number of the signal and the frame that was interrupted.
    """
    for outer in outwards(frame):
        code = outer.f_code
        arguments = [outer.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]][-2:]
        if len(arguments) == 2 and arguments[0] == number and isinstance(arguments[1], FrameType):
            return True
    return False
