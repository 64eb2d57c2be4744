"""Sink `logging`: the module's functions and the methods of its loggers, with `%` templates filled late."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Template
from .registry import sink

LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception")
OWNERS = ("logging", "logging.getLogger()", "logging.Logger()", "absl.logging", "loguru.logger")


@sink(
    "logging",
    [owner + "." + level for owner in OWNERS for level in LEVELS],
    ["*log." + level for level in LEVELS]
    + ["*logger." + level for level in LEVELS]
    + ["*logging." + level for level in LEVELS],
)
def report(msg: Any, *args: Any, **options: Any) -> Iterator[Template]:
    """The arguments fill the template, when there are any."""
    yield Template(msg, args)


@sink("logging", [owner + ".log" for owner in OWNERS], ["*logger.log", "*logging.log"])
def report_at_level(level: Any, msg: Any, *args: Any, **options: Any) -> Iterator[Template]:
    """The same with the level as first argument."""
    yield Template(msg, args)
