"""Files with captured arrays. Damaged or missing files are reported, and the remaining files are still used."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deviate.errors import RecordError

Array = npt.NDArray[Any]
READ_ERRORS = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    zipfile.BadZipFile,
    zlib.error,
    MemoryError,
    NotImplementedError,
)
"""Errors that are raised when a damaged file is read."""
RUN_LEFT_OUT = "the captures of this run are left out"


@contextmanager
def reading_arrays(path: Path) -> Iterator[None]:
    """Raise RecordError where a file turns out to be damaged."""
    try:
        yield
    except READ_ERRORS as error:
        raise RecordError(f"{path.name} cannot be read: {error}", RUN_LEFT_OUT) from error


def read_array(path: Path, name: str) -> Array:
    """Read one array of a file. Raises RecordError if it is missing or damaged."""
    with reading_arrays(path), np.load(path, allow_pickle=False) as file:
        array: Array = file[name]
    return array


def names_in(path: Path) -> tuple[str, ...]:
    """Names of the arrays in a file, after verifying its checksum. Raises RecordError."""
    with reading_arrays(path), zipfile.ZipFile(path) as file:
        if (damaged := file.testzip()) is not None:
            raise ValueError(f"{damaged} is damaged")
        return tuple(name.removesuffix(".npy") for name in file.namelist())
