"""Sink `chainer`: values reported to the current reporter (order of arguments: 7)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import sink


@sink("chainer", ["chainer.report", "chainer.reporter.report", "chainer.Reporter().report"], ["reporter.report"])
def report(values: Any, observer: Any = None) -> Iterator[Record]:
    """`report(values, observer)`."""
    yield Record(values)
