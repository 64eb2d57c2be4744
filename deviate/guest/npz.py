"""Writes arrays to `.npz` files that NumPy can read, without requiring NumPy.

Source: NumPy Enhancement Proposal 1, format version 1.0; an `.npz` is a zip of such files.
"""

from __future__ import annotations

import os
import sys

from .annotations import Any, Array, Iterable, Sequence

CODES = {
    "bool": "|b1", "int8": "|i1", "uint8": "|u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "int64": "i8", "uint64": "u8", "float16": "f2", "float32": "f4", "float64": "f8", "complex64": "c8",
    "complex128": "c16",
}  # fmt: skip
"""What NumPy calls the types that it has, less their byte order."""
ALIGNMENT = 64
CHUNK = 1 << 24


def write_npz(path: str, arrays: Iterable[tuple[str, Array]], *, is_compressed: bool) -> int:
    """Write arrays under their names, whole or not at all; gives the size of the file in bytes.

    Args:
        arrays: by name; instead of a buffer there may be a function that gives it when its turn has come.

    Raises:
        KeyError: of a type that NumPy has not; texts of n characters are of type `U<n>`.
        OSError: the file cannot be written; nothing is left of it.
    """
    import zipfile  # most runs capture nothing, and should not wait for the import

    part = path + ".part"
    method = zipfile.ZIP_DEFLATED if is_compressed else zipfile.ZIP_STORED
    try:
        with zipfile.ZipFile(part, "w", method, compresslevel=1) as archive:
            for name, (kind, shape, buffer) in arrays:
                entry = zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0))
                entry.compress_type = method
                with archive.open(entry, "w", force_zip64=True) as file:
                    _write_array(file, kind, shape, buffer() if callable(buffer) else buffer)
        size = os.path.getsize(part)
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.remove(part)
        raise
    return size


def _write_array(file: Any, kind: str, shape: Sequence[int], buffer: Any) -> None:
    code = kind if kind[0] == "U" else CODES[kind]
    order = "" if code[0] == "|" else "<" if sys.byteorder == "little" else ">"
    sizes = "".join("%d, " % size for size in shape)
    header = "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }" % (order, code, sizes)
    head = 10  # magic, version, and the two bytes of the length
    header += " " * (-(head + len(header) + 1) % ALIGNMENT) + "\n"
    file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin-1"))
    view = memoryview(buffer)
    if view.nbytes:
        view = view.cast("B")
        for start in range(0, len(view), CHUNK):
            file.write(view[start : start + CHUNK])
