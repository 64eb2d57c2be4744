"""Columns of measurements: sequences of plain numbers that do not stay in memory.

A list of a million floats takes 32 MB and one of steps another 36; an experiment has ten such runs. The numbers of a
long run lie in a file without a name instead, which the system pages in where somebody looks, and which is gone with
the last column of the run.
"""

import contextlib
import mmap
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from deviate.model import Series

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_STEP = -(1 << 63)
"""What stands for None among steps."""
MOST_IN_MEMORY = 1_000
"""Measurements of a run up to which a file is not worth its while."""

T = TypeVar("T")


class _Column(Sequence[T], Generic[T]):
    """Numbers of eight bytes each; equal to any sequence of equal items, as a tuple is to a tuple, NaN to NaN too."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: "memoryview[Any]") -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> T | Self:
        if isinstance(index, slice):
            return type(self)(self._numbers[index])
        return self._item(self._numbers[index])

    def __iter__(self) -> Iterator[T]:
        return map(self._item, self._numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        if len(self) != len(other):
            return False
        if isinstance(other, _Column) and bytes(self._numbers) == bytes(other._numbers):
            return True
        pairs = zip(self, other, strict=True)
        return all(one == theirs or (one != one and theirs != theirs) for one, theirs in pairs)  # noqa: PLR0124

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)

    @staticmethod
    def _item(number: Any) -> T:
        raise NotImplementedError


class Values(_Column[float]):
    """Values, or times, with all their bits."""

    __slots__ = ()

    def __iter__(self) -> Iterator[float]:
        return iter(self._numbers)

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> "NDArray[Any]":
        return _numpy(self._numbers, dtype, copy=copy)

    @staticmethod
    def _item(number: Any) -> float:
        return number  # type: ignore[no-any-return]


class Steps(_Column[int | None]):
    """Steps of the main loop, None outside of it."""

    __slots__ = ()

    def __contains__(self, step: object) -> bool:
        import numpy as np

        return bool((np.asarray(self._numbers) == (NO_STEP if step is None else step)).any())

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> "NDArray[Any]":
        return _numpy(tuple(self) if None in self else self._numbers, dtype, copy=copy)

    @staticmethod
    def _item(number: Any) -> int | None:
        return None if number == NO_STEP else number


def _numpy(numbers: Any, dtype: Any, *, copy: bool | None) -> "NDArray[Any]":
    """Of a file it is the very pages, where the type is the same and nobody asks for a copy."""
    import numpy as np  # a tenth of a second that verbs which read no values need not wait for

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
        with contextlib.suppress(OSError):  # a record on a full or read-only disk is read all the same
            views = _on_disk(parts, folder)
    triples = zip(views[::3], views[1::3], views[2::3], strict=True)
    return {
        name: Series(Steps(steps), Values(values), Values(times))
        for name, (steps, values, times) in zip(columns, triples, strict=True)
    }


def _on_disk(parts: "list[array[Any]]", folder: Path | None) -> "list[memoryview[Any]]":
    with tempfile.TemporaryFile(dir=folder) as file:
        for part in parts:
            file.write(part)
        file.flush()
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    views: list[memoryview[Any]] = []
    begin = 0
    for part in parts:
        end = begin + len(part) * part.itemsize
        views.append(whole[begin:end].cast("q" if part.typecode == "q" else "d"))
        begin = end
    return views
