"""Sink `logger`: home-made loggers that write one row per call."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Row
from .registry import sink


@sink("logger", (), ["*logger.append"])
def append(values: Any) -> Iterator[Row]:
    """A sequence, in the order of columns that were named before."""
    yield Row(values)
