"""Sink `json`: objects written to a file as JSON. `json.dumps` gives text, which is reported where it goes.

`json.dump` has no tap: the guest reads what it is given, with all that is nested in it.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import sink


@sink("json", ["json.dump"])
def dump(obj: Any, fp: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`dump(obj, fp, …)`."""
    yield Record(obj)


@sink("file", ["simplejson.dump", "ujson.dump"])
def dump_of_others(obj: Any, fp: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`dump(obj, fp, …)` of other packages."""
    yield Record(obj)


@sink("file", ["jsonlines.open().write", "jsonlines.*Writer().write"])
def write(obj: Any) -> Iterator[Record]:
    """`Writer.write(obj)` of jsonlines 4."""
    yield Record(obj)
