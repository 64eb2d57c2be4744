"""Sink `ray`: results that a training function reports to Ray Train or Ray Tune (orders of arguments: 2.60 and 1)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import Carried, by_keyword, sink


@sink("ray", ["ray.*.report"], ["session.report", "tune.report"])
def report(metrics: Any = None, *rest: Any, checkpoint: Any = None, **values: Any) -> Iterator[Carried]:
    """`report(metrics, checkpoint, …)`; in version 1 every value under its own keyword."""
    if metrics is not None:
        yield Record(metrics)
    else:
        yield from by_keyword(values)
