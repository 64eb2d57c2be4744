"""Arrays in what libraries for tables of examples accept: arrays, tables, sparse matrices and lists."""

from __future__ import annotations

import sys

from ..annotations import Any, Iterator


def arrays_in(part: Any) -> Iterator[tuple[str, Any]]:
    """NumPy arrays in an argument, each with the end of its name; none in a path, an iterator or None."""
    numpy = sys.modules["numpy"]
    if hasattr(part, "tobytes") and hasattr(part, "dtype"):
        yield "", part
    elif hasattr(part, "indptr") and hasattr(part, "indices"):
        for name in ("data", "indices", "indptr"):
            yield "." + name, getattr(part, name)
    elif hasattr(part, "to_numpy"):
        values = part.to_numpy()
        yield "", values.astype(str) if values.dtype.hasobject else values  # columns of several types as text
    elif isinstance(part, (list, tuple)):
        yield "", numpy.asarray(part)
