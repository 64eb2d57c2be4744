"""Sink `labbook`: notes on a page of a lab book (order of arguments: labbook 1.0)."""

from __future__ import annotations

from typing import Any, Iterator

from deviate.sinks import Scalar, sink


@sink("labbook", ["labbook.Page().note"], ["page.note"])
def note(name: Any, value: Any, epoch: Any = None) -> Iterator[Scalar]:
    """`note(name, value, epoch)`."""
    yield Scalar(name, value)
