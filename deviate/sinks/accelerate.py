"""Sink `accelerate`: the trackers of Hugging Face Accelerate (order of arguments: 1.15)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import sink


@sink("accelerate", ["accelerate.*Accelerator().log", "accelerate.*Tracker().log"], ["*accelerator.log"])
def log(values: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(values, step, log_kwargs)`."""
    yield Record(values)
