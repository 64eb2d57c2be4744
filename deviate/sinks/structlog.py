"""Sink `structlog`: an event and named values beside it."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Template
from .registry import Carried, by_keyword, methods, sink

LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception", "msg")


@sink("structlog", methods(["structlog.*"], LEVELS))
def report(
    event: Any = "",
    *args: Any,
    exc_info: Any = None,
    stack_info: Any = None,
    stacklevel: Any = None,
    **values: Any,
) -> Iterator[Carried]:
    """The event is a `%` template when it is given arguments; every keyword is a value."""
    yield Template(event, args)
    yield from by_keyword(values)
