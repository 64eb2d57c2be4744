"""Sink `dvclive`: metrics of a `Live` object (order of arguments: 3.49)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar
from .registry import sink


@sink(
    "dvclive",
    ["dvclive.*Live().log_metric", "dvclive.*Live().log", "dvclive.log"],
    ["live.log_metric", "*.live.log_metric"],
)
def log_metric(name: Any, val: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log_metric(name, val, …)`, in older versions `log`."""
    yield Scalar(name, val)
