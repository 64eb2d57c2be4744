"""Sink `table`: rows added to tables that are printed: prettytable, texttable, rich, terminaltables and the like."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Row
from .registry import Carried, sink


@sink("table", ["prettytable.PrettyTable().add_row", "texttable.Texttable().add_row"])
def add_row(row: Any, *settings: Any, **options: Any) -> Iterator[Row]:
    """One sequence."""
    yield Row(row)


@sink("table", ["rich.table.Table().add_row"])
def add_cells(*cells: Any, **options: Any) -> Iterator[Message]:
    """Every argument is a cell."""
    for cell in cells:
        yield Message(cell)


@sink("table", (), ["*table.add_row", "tbl.add_row"])
def add_any(first: Any, *rest: Any, **options: Any) -> Iterator[Carried]:
    """A table of unknown type: one argument is the row, several are its cells."""
    if not rest:
        yield Row(first)
    for cell in (first, *rest) if rest else ():
        yield Message(cell)
