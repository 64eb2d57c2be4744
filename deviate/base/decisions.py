"""The log of what deviate decides and why, by loggers `deviate.ROOM`; shown by `--debug`, or by a program's handlers.

`logging` is not imported here: where nobody has imported it, no handler can wait for a line.
"""

import functools
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger

ROOT = "deviate"


def log_decision(room: str, message: str, *values: object) -> None:
    """Log a line at the level DEBUG.

    Args:
        room: the package that decides, such as `replay`.
        message: with a `%s` for each of the values, which are turned into text only where somebody listens.
    """
    if "logging" in sys.modules:
        _logger(room).debug(message, *values, stacklevel=2)


@contextmanager
def timed_stage(room: str, message: str, *values: object) -> Iterator[None]:
    """Log how long a stage took, however it ended; arguments are as in `log_decision`."""
    began = time.perf_counter()
    try:
        yield
    finally:
        log_decision(room, f"{message} in %.3f s", *values, time.perf_counter() - began)


@functools.cache
def _logger(room: str) -> "Logger":
    import logging

    root = logging.getLogger(ROOT)
    if not any(isinstance(handler, logging.NullHandler) for handler in root.handlers):
        root.addHandler(logging.NullHandler())
    return logging.getLogger(f"{ROOT}.{room}")
