"""Signals that a program sends to itself, so that such a run is not considered as ended from outside."""

from __future__ import annotations

import os
from sys import _getframe
from types import FrameType

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..project import outwards

MODULES = ("os", "signal")


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == "os":
        _record(module, "kill", context, lambda pid, number: pid in (os.getpid(), 0, -os.getpgrp()))
        _record(module, "killpg", context, lambda group, number: group in (os.getpgrp(), 0))
    else:
        _record(module, "raise_signal", context, lambda number: True)


def _record(module: Any, name: str, context: AdapterContext, reaches_this_process: Any) -> None:
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
