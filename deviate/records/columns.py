"""Columns of measurements: sequences of numbers that are stored outside of memory.

A list of a million floats takes 32 MB and a list of steps another 36; an experiment has ten such runs. The numbers of a
long run are therefore stored in an unnamed temporary file, which the operating system pages in on access and deletes
with the last column of the run.
"""

import contextlib
import itertools
import mmap
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deviate.model.records import Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_STEP = -(1 << 63)
"""Marker of None in a column of steps."""
MOST_IN_MEMORY = 1_000
"""Maximum number of measurements of a run that are held in memory instead of a file."""


class Column(Sequence[Any]):
    """A column of 8-byte numbers, stored exactly; equal to any sequence of equal items, where NaN equals NaN."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: "memoryview[Any]") -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        return type(self)(self._numbers[index]) if isinstance(index, slice) else self._numbers[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        if len(self) != len(other):
            return False
        if isinstance(other, Column) and bytes(self._numbers) == bytes(other._numbers):
            return True
        pairs = zip(self, other, strict=True)
        return all(one == theirs or (one != one and theirs != theirs) for one, theirs in pairs)  # noqa: PLR0124

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> "NDArray[Any]":
        return _numpy(self._numbers, dtype, copy=copy)


class StepColumn(Column):
    """A column of main-loop steps, None outside of the loop."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        item = super().__getitem__(index)
        return None if item == NO_STEP else item

    def __iter__(self) -> Iterator[int | None]:
        return (None if number == NO_STEP else number for number in self._numbers)

    def __contains__(self, step: object) -> bool:
        return bool((_numpy(self._numbers) == (NO_STEP if step is None else step)).any())

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> "NDArray[Any]":
        return _numpy(tuple(self) if None in self else self._numbers, dtype, copy=copy)


def _numpy(numbers: Any, dtype: Any = None, *, copy: bool | None = None) -> "NDArray[Any]":
    """NumPy view of the column; it is not a copy if the type matches and no copy is requested."""
    import numpy as np  # importing NumPy takes 0.1 s, which commands that read no values avoid

    return np.array(numbers, dtype=dtype) if copy else np.asarray(numbers, dtype=dtype)


def series_of(
    columns: dict[str, tuple["array[int]", "array[float]", "array[float]"]], folder: Path | None
) -> dict[str, Series]:
    """Steps, values and times by metric as series; times may be empty.

    Args:
        folder: where the file without a name is, None for the system's temporary folder, which may be memory; a disk
            that holds the events has room for what is a tenth of them.
    """
    parts: list[array[Any]] = [part for columns_of_one in columns.values() for part in columns_of_one]
    views: list[memoryview[Any]] = [memoryview(part) for part in parts]
    if sum(map(len, parts)) > 3 * MOST_IN_MEMORY:
        with contextlib.suppress(OSError):  # on a full or read-only disk, keep the numbers in memory
            views = _on_disk(parts, folder)
    triples = zip(views[::3], views[1::3], views[2::3], strict=True)
    return {
        name: Series(StepColumn(steps), Column(values), Column(times))
        for name, (steps, values, times) in zip(columns, triples, strict=True)
    }


def _on_disk(parts: "list[array[Any]]", folder: Path | None) -> "list[memoryview[Any]]":
    with tempfile.TemporaryFile(dir=folder) as file:
        for part in parts:
            file.write(part)
        file.flush()
        whole: Any = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    sizes = [len(part) * part.itemsize for part in parts]
    ends = itertools.accumulate(sizes)
    return [whole[end - size : end].cast(part.typecode) for part, size, end in zip(parts, sizes, ends, strict=True)]
