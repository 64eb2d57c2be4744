"""Sink `labbook`: notes on a page of a lab book."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deviate.sinks import Scalar, sink


@sink("labbook", ["labbook.Page().note"], ["page.note"])
def note(name: Any, value: Any, epoch: Any = None) -> Iterator[Scalar]:
    """`note(name, value, epoch)`."""
    yield Scalar(name, value)
