"""Sink `json`: objects written to a file as JSON. `json.dumps` gives text, which is reported where it goes."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import sink


@sink("json", ["json.dump", "simplejson.dump", "ujson.dump"])
def dump(obj: Any, fp: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`dump(obj, fp, …)`."""
    yield Record(obj)


@sink("json", ["jsonlines.open().write", "jsonlines.*Writer().write"])
def write(obj: Any) -> Iterator[Record]:
    """`Writer.write(obj)` of jsonlines 4."""
    yield Record(obj)
