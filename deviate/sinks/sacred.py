"""Sink `sacred`: scalars of an experiment or its run (orders of arguments: 0.8)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar
from .registry import given, sink


@sink("sacred", ["sacred.*Experiment().log_scalar", "sacred.*Run().log_scalar"], ["ex.log_scalar", "*_run.log_scalar"])
def log_scalar(
    name: Any = None, value: Any = None, *rest: Any, metric_name: Any = None, **options: Any
) -> Iterator[Scalar]:
    """`log_scalar(name, value, step)` of an experiment; its run calls the first `metric_name`."""
    if value is not None:
        yield Scalar(given(name, metric_name), value)
