"""Loggers, whose templates are filled late."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import FormatTemplate, Message, Template
from .registry import Carried, by_keyword, declaring, methods, sink

reports = declaring(__name__)

# `logging`: the module's functions and the methods of its loggers, with `%` templates filled late.


LEVELS = ("info", "warning", "warn", "error", "critical", "fatal", "exception")
MODULES = (
    "logging",
    "absl.logging",
    "absl.logging.get_absl_logger()",
    "tensorflow.logging",
    "tensorflow.compat.v1.logging",
    "tensorflow.get_logger()",
)
# accelerate, transformers, datasets, multiprocessing, … hand out loggers under one of these names.
LOGGERS = ("*getLogger()", "*get_logger()", "logging.Logger()", "logging.LoggerAdapter()")
OWNERS = (*MODULES, *LOGGERS)
SPELLINGS = ("*log", "*logger", "*logging")


@sink("logging", methods(OWNERS, LEVELS), methods(SPELLINGS, LEVELS))
def logging_report(msg: Any, *args: Any, **options: Any) -> Iterator[Template]:
    """The arguments fill the template, when there are any."""
    yield Template(msg, args)


@sink("logging.debug", methods(OWNERS, ["debug"]), methods(SPELLINGS, ["debug"]))
def report_details(msg: Any, *args: Any, **options: Any) -> Iterator[Template]:
    """The same at a level that loggers leave out unless they are told otherwise."""
    yield Template(msg, args)


@sink("logging", methods(OWNERS, ["log", "vlog"]))
def logging_report_at_level(level: Any, msg: Any, *args: Any, **options: Any) -> Iterator[Template]:
    """The same with the level as first argument."""
    yield Template(msg, args)


@sink("logging", (), methods(SPELLINGS, ["log", "vlog"]))
def report_at_unknown(first: Any, *rest: Any, **options: Any) -> Iterator[Message | Template]:
    """A logger of unknown type: one argument is what it reports, of more the first is the level."""
    if rest:
        yield Template(rest[0], rest[1:])
    else:
        yield Message(first)


@sink(
    "logging",
    methods(MODULES, ["log_every_n", "log_first_n", "log_every_n_seconds", "log_if"]),
    methods(["*logging"], ["log_every_n", "log_first_n", "log_every_n_seconds", "log_if"]),
)
def report_sometimes(level: Any, msg: Any, condition: Any, *args: Any, **options: Any) -> Iterator[Template]:
    """Functions of `absl.logging` and `tf.compat.v1.logging`: what stands third says when."""
    yield Template(msg, args)


# Functions that hand a text to a logger they choose.
reports(
    "message *",
    Message,
    "logging",
    "*.rank_zero_info *.rank_zero_warn deepspeed.*.log_dist mmcv.print_log mmcv.*.print_log mmengine.print_log "
    "mmengine.*.print_log",
)


# `loguru`: loggers whose templates are those of `str.format`.


LOGURU_LEVELS = ("trace", "debug", "info", "success", "warning", "error", "critical", "exception")
# `logger.opt(…)`, `logger.bind(…)` and `logger.patch(…)` give loggers as well.
LOGURU_LOGGERS = ("loguru.logger", "loguru.logger.*()")


@sink("loguru", methods(LOGURU_LOGGERS, LOGURU_LEVELS), ["*logger.success", "*logger.trace"])
def loguru_report(message: Any, *args: Any, **named: Any) -> Iterator[FormatTemplate]:
    """The arguments fill the template, when there are any."""
    yield FormatTemplate(message, args, named)


@sink("loguru", methods(LOGURU_LOGGERS, ["log"]))
def loguru_report_at_level(level: Any, message: Any, *args: Any, **named: Any) -> Iterator[FormatTemplate]:
    """The same with the level as first argument."""
    yield FormatTemplate(message, args, named)


# `structlog`: an event and named values beside it.


STRUCTLOG_LEVELS = ("debug", "info", "warning", "warn", "error", "critical", "fatal", "exception", "msg")


@sink("structlog", methods(["structlog.*"], STRUCTLOG_LEVELS))
def structlog_report(
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
