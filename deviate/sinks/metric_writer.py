"""Sink `metric-writer`: writers of `clu.metric_writers` (order of arguments: 0.0.12)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import sink


@sink("metric-writer", ["clu.metric_writers.*.write_scalars"], ["*.write_scalars"])
def write_scalars(step: Any, scalars: Any) -> Iterator[Record]:
    """`write_scalars(step, scalars)`."""
    yield Record(scalars)
