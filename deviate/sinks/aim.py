"""Sink `aim`: `track` of a run (order of arguments: 3.29), of a session and of the module (2)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import Carried, methods, sink


@sink("aim", ["aim.track", *methods(["aim.*Run()", "aim.*Session()"], ["track"])], ["*run.track", "*aim*.track"])
def track(value: Any, name: Any = None, *rest: Any, **options: Any) -> Iterator[Carried]:
    """`track(value, name, step, epoch, context)`; without a name the value is a mapping."""
    yield Record(value) if name is None else Scalar(name, value)
