"""Finds the array of the script that a model's inputs are rows of, and labels beside it.

Scripts without a loader cut batches from arrays: by slices, steps, indices or masks, and copy them from one library to
another. Rows are therefore found by their numbers: what is found is true wherever arrays lie in memory, and equal rows
with different labels have none.
"""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from zlib import crc32

from .. import names
from ..annotations import Any, Callable
from ..project import GuestProject
from .held_out import is_on_host

LARGEST = 1 << 30
"""Bytes of an array in which rows are searched for."""


class Origin:
    """Where inputs are from.

    Attributes:
        name: of their set; "" where the script has no telling name.
        root: the array that they are rows of.
        labels: of these rows; None where there are none, or several that nothing tells apart.
        beside: names and values beside the array.
    """

    def __init__(self, root: Any, beside: dict[str, Any]) -> None:
        self.name = ""
        self.root = root
        self.labels: Any = None
        self.beside = beside


class Examples:
    """Searches the frames of the script that lead to a call of a model."""

    def __init__(self, project: GuestProject) -> None:
        self.project = project
        self.places: dict[int, tuple[Callable[[], Any], dict[int, list[int]]]] = {}

    def find(self, data: Any, frame: FrameType | None) -> Origin | None:
        """The array that `data` is, or is rows of; None where no array of the script has these rows.

        Of the array itself the outermost telling name counts, as functions call it what they like; of arrays with these
        rows the innermost one, as others may have the same rows.
        """
        origin, batch = None, _numbers(data)
        for outer in self.project.frames(frame):
            told = ""
            for owner, beside in names.spaces(outer):
                for key, value in beside.items():
                    groups = self._groups(value, data, batch)
                    if groups is None:
                        continue
                    origin = origin or Origin(value, beside)
                    name = names.set_name(key) or names.set_name(owner)
                    is_better = not told or (names.WORDS.search(name) and not names.WORDS.search(told))
                    if name and is_better and (not groups or told or not origin.name):
                        origin.name, origin.root, told = name, value, name
                    if origin.labels is None:
                        origin.labels = _labels(beside, key, value, groups)
        return origin

    def _groups(self, value: Any, data: Any, batch: Any) -> list[list[int]] | None:
        """For each row of a batch the equal rows of an array; none where the array is the batch; else None."""
        if value is data:
            return []
        shape: Any = getattr(value, "shape", None)
        is_alike = batch is not None and type(shape) is not property and hasattr(shape, "__len__")
        if not is_alike or len(shape) != batch.ndim or tuple(shape[1:]) != batch.shape[1:] or shape[0] < len(batch):
            return None
        whole = _numbers(value)
        if whole is None or whole.dtype != batch.dtype:
            return None
        places, groups = self._places(value, whole), []
        for digest, row in zip(_digests(batch), batch):
            group = places.get(digest)
            if group is None or whole[group[0]].tobytes() != row.tobytes():
                return None
            groups.append(group)
        return groups

    def _places(self, value: Any, whole: Any) -> dict[int, list[int]]:
        """Rows of an array by their digests."""
        reference, places = self.places.get(id(value), (None, {}))
        if reference is None or reference() is not value:
            places = {}
            for place, digest in enumerate(_digests(whole)):
                places.setdefault(digest, []).append(place)
            self.places[id(value)] = weakref.ref(value), places
        return places


def _labels(beside: dict[str, Any], name: str, value: Any, groups: list[list[int]]) -> Any:
    """The labels of rows of an array, from an array beside it with as many rows."""

    def fits(labels: Any) -> bool:
        return labels is not value and hasattr(labels, "dtype") and len(labels) == len(value)

    labels = names.labels_in(beside, name, fits)
    if labels is None or not groups:
        return labels
    if any(len(group) > 1 and bool((labels[group] != labels[group[0]]).any()) for group in groups):
        return None
    return labels[sys.modules["numpy"].asarray([group[0] for group in groups])]


def _numbers(value: Any) -> Any:
    """The NumPy array of an array in host memory with rows; None for all else."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not is_on_host(value) or not hasattr(value, "dtype") or not len(value.shape):
        return None
    try:
        array = numpy.asarray(value.detach() if hasattr(value, "detach") else value)
    except Exception:  # a tensor of a graph, of a type that NumPy has not, or without memory of its own
        return None
    return array if array.dtype.kind in "fiubc" and array.size and array.nbytes <= LARGEST else None


def _digests(array: Any) -> list[int]:
    """CRC-32 of each row."""
    rows = sys.modules["numpy"].ascontiguousarray(array).reshape(len(array), -1)
    return [crc32(row) for row in rows]
