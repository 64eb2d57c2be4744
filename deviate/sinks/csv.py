"""Sink `csv`: rows written with the standard library's `csv`.

They have no taps: the guest stands between the script and its writers.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Row
from .registry import sink


@sink("csv", ["csv.writer().writerow"], ["*.writerow"])
def writerow(row: Any) -> Iterator[Row]:
    """A sequence; a mapping where the writer, whose type could not be known, is a DictWriter."""
    yield Row(row)


@sink("csv", ["csv.DictWriter().writerow"], ["*dictwriter.writerow", "*dict_writer.writerow"])
def writerow_of_names(rowdict: Any) -> Iterator[Record]:
    """A mapping."""
    yield Record(rowdict)
