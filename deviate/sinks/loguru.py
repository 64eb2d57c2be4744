"""Sink `loguru`: loggers whose templates are those of `str.format`."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import FormatTemplate
from .registry import methods, sink

LEVELS = ("trace", "debug", "info", "success", "warning", "error", "critical", "exception")
# `logger.opt(…)`, `logger.bind(…)` and `logger.patch(…)` give loggers as well.
LOGGERS = ("loguru.logger", "loguru.logger.*()")


@sink("loguru", methods(LOGGERS, LEVELS), ["*logger.success", "*logger.trace"])
def report(message: Any, *args: Any, **named: Any) -> Iterator[FormatTemplate]:
    """The arguments fill the template, when there are any."""
    yield FormatTemplate(message, args, named)


@sink("loguru", methods(LOGGERS, ["log"]))
def report_at_level(level: Any, message: Any, *args: Any, **named: Any) -> Iterator[FormatTemplate]:
    """The same with the level as first argument."""
    yield FormatTemplate(message, args, named)
