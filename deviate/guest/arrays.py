"""Converts arrays of any library to types, shapes and bytes, as scripts may log any of them."""

from __future__ import annotations

import sys
from array import array

from .annotations import Any, Array, Sequence

WHOLE, REAL = "int64", "float64"
LONGEST = 64
"""Characters of a text that count: all batches of a set have the same type."""


def array_of(value: Any) -> Array:
    """Convert an array, a tensor of any library, or lists of numbers or strings.

    Raises:
        ValueError: it has no rows, its rows differ in length, or it holds neither numbers nor texts.
    """
    if hasattr(value, "detach"):
        value = value.detach()
        if str(value.dtype) in ("torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2"):
            value = value.float()
        value = value.cpu()
        if "numpy" not in sys.modules:
            return _of_lists(value.tolist())
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return _of_lists(value)
    array = numpy.asarray(value)
    if array.dtype.kind == "O":
        return _of_lists(array.tolist())
    if array.dtype.kind == "V":  # bfloat16 of JAX and similar types
        array = array.astype("float32")
    if not array.ndim:
        raise ValueError("a single value has no rows")
    if array.dtype.kind == "U":
        return _of_texts(array.ravel().tolist(), array.shape)
    array = numpy.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    return array.dtype.name, array.shape, array.tobytes()


def _of_lists(value: Any) -> Array:
    shape: list[int] = []
    rows = value
    while isinstance(rows, (list, tuple)):
        shape.append(len(rows))
        rows = rows[0] if rows else None
    if not shape:
        raise ValueError("a single value has no rows")
    flat = _flat(value, shape)
    if any(isinstance(item, str) for item in flat):
        return _of_texts([str(item) for item in flat], shape)
    if all(isinstance(item, int) for item in flat):
        return WHOLE, shape, array("q", flat).tobytes()
    return REAL, shape, array("d", [float(item) for item in flat]).tobytes()


def _flat(value: Any, shape: Sequence[int]) -> list[Any]:
    if not shape:
        if isinstance(value, (list, tuple)):
            raise ValueError("rows of different depth")
        return [value]
    if not isinstance(value, (list, tuple)) or len(value) != shape[0]:
        raise ValueError("rows of different length")
    return [item for row in value for item in _flat(row, shape[1:])]


def _of_texts(texts: Sequence[str], shape: Sequence[int]) -> Array:
    """Strings of equal length as stored by NumPy: UTF-32, padded with zeros."""
    code = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    data = b"".join(text[:LONGEST].ljust(LONGEST, "\0").encode(code, "replace") for text in texts)
    return "U%d" % LONGEST, shape, data
