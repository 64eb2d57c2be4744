"""Sink `tabular`: loggers of reinforcement learning, which gather values under keys and dump a table.

Those of baselines, rllab, garage and spinningup, whose files projects copy, and of stable_baselines3 2.9.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import Carried, by_keyword, given, methods, sink

KEYED = ("logkv", "logkv_mean", "record_tabular", "log_tabular", "record_mean")
LOGGERS = (
    "baselines.logger",
    "stable_baselines.logger",
    "stable_baselines3.*logger",
    "stable_baselines3.*.configure()",
    "garage.tabular",
    "dowel.tabular",
)


@sink(
    "tabular",
    methods(LOGGERS, [*KEYED, "record"]),
    [*methods(["*"], KEYED), "*logger.record", "logkv", "record_tabular", "log_tabular"],
)
def record(key: Any = None, val: Any = None, *rest: Any, value: Any = None, **options: Any) -> Iterator[Scalar]:
    """Key and value first; a key alone asks for what was stored under it."""
    number = given(val, value)
    if number is not None:
        yield Scalar(key, number)


@sink("tabular", methods(LOGGERS, ["logkvs"]), ["*logger.logkvs"])
def logkvs(d: Any) -> Iterator[Record]:
    """A mapping."""
    yield Record(d)


@sink("tabular", (), ["*logger.store"])
def store(**values: Any) -> Iterator[Carried]:
    """Every value under its own keyword."""
    yield from by_keyword(values)
