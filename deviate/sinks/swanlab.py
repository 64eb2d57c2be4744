"""Sink `swanlab` (order of arguments: 0.10)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import sink


@sink("swanlab", ["swanlab.log", "swanlab.*().log"], ["swanlab.log"])
def log(data: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(data, step)` of the module and of a run."""
    yield Record(data)
