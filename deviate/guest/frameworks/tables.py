"""Arrays in what libraries for tables of examples accept: arrays, tables, sparse matrices and lists."""

from __future__ import annotations

import sys

from ..annotations import Any, Iterator

DENSE = "fiub"
"""Kinds of columns whose numbers are recorded as they are; the others are recorded as text."""


def arrays_in(part: Any) -> Iterator[tuple[str, Any]]:
    """NumPy arrays in an argument, each with the end of its name; none in a path, an iterator or None."""
    numpy = sys.modules["numpy"]
    if hasattr(part, "tobytes") and hasattr(part, "dtype"):
        yield "", part
    elif hasattr(part, "indptr") and hasattr(part, "indices"):
        for name in ("data", "indices", "indptr"):
            yield "." + name, getattr(part, name)
    elif hasattr(part, "columns") and hasattr(part, "to_numpy"):
        yield from _columns(part)
    elif hasattr(part, "to_numpy"):
        yield "", _plain(part)
    elif isinstance(part, (list, tuple)):
        yield "", numpy.asarray(part)


def _columns(table: Any) -> Iterator[tuple[str, Any]]:
    """A table of numbers as one array; else its columns of numbers as one, and each other one as text."""
    values = table.to_numpy()
    if values.dtype.kind in DENSE:
        yield "", values
        return
    numpy = sys.modules["numpy"]
    columns = [(str(name), _plain(table[name])) for name in table.columns]
    dense = [column for _, column in columns if column.dtype.kind in DENSE]
    if dense:
        yield "", numpy.column_stack(dense)
    for name, column in columns:
        if column.dtype.kind not in DENSE:
            yield "." + name, column


def _plain(column: Any) -> Any:
    """A column as an array of numbers, or of text where its values are objects."""
    values = column.to_numpy()
    return values.astype(str) if values.dtype.hasobject else values
