"""Sink `clearml`: the logger of a task (orders of arguments: 2.1)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar, Template
from .registry import methods, sink

LOGGERS = ("clearml.*current_logger()", "clearml.*get_logger()", "clearml.Logger", "trains.*get_logger()")


@sink("clearml", methods(LOGGERS, ["report_scalar"]), ["*.report_scalar"])
def report_scalar(title: Any, series: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`report_scalar(title, series, value, iteration)`."""
    yield Scalar(series, value, prefix=title)


@sink("clearml", methods(LOGGERS, ["report_single_value"]), ["*.report_single_value"])
def report_single_value(name: Any, value: Any) -> Iterator[Scalar]:
    """`report_single_value(name, value)`: a result of the whole run."""
    yield Scalar(name, value)


@sink("clearml", methods(LOGGERS, ["report_text"]), ["*.report_text"])
def report_text(
    msg: Any, level: Any = None, print_console: Any = None, *args: Any, **options: Any
) -> Iterator[Template]:
    """`report_text(msg, level, print_console, *args)`."""
    yield Template(msg, args)
