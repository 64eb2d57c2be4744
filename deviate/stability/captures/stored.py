"""Files with captured outputs and weights, of one run per rank, or of several runs layer by layer."""

import zipfile
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deviate.errors import RecordError
from deviate.model.records import Artifact
from deviate.records.stored_arrays import READ_ERRORS, RUN_LEFT_OUT, names_in, read_array, reading_arrays

Array = npt.NDArray[Any]
OUTPUTS, TRUTH, KEYS = "outputs", "truth", "keys"


@dataclass(frozen=True, slots=True)
class Stored:
    """The outputs of one run on a set at one point in time: one file, or a shard per rank.

    Attributes:
        names: of the arrays that all files have; each has a row per example.
    """

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return sum(self.sizes)

    def array(self, name: str) -> Array:
        """Rows of all shards. Shards of equal size are interleaved, as a DistributedSampler assigns examples.

        Raises:
            RecordError: a file is damaged.
        """
        shards = [read_array(path, name) for path in self.paths]
        if len(shards) == 1:
            return shards[0]
        if len(set(self.sizes)) == 1:
            return np.stack(shards, axis=1).reshape(-1, *shards[0].shape[1:])
        return np.concatenate(shards)


def combine_shards(shards: Sequence[Artifact]) -> Stored:
    """The outputs of one run on one set at one point in time, from one file per rank.

    If every rank evaluated the whole set, the files are copies and the first one is used.

    Raises:
        RecordError: a file is damaged, or has no outputs.
    """
    paths = [shard.path for shard in shards]
    names = [names_in(path) for path in paths]
    common = tuple(name for name in names[0] if all(name in names_of_file for names_of_file in names))
    if OUTPUTS not in common:
        raise RecordError(f"{paths[0].name} holds no outputs", RUN_LEFT_OUT)
    outputs = [_head(path) for path in paths]
    if len(paths) == 1 or _are_copies(paths, common, outputs):
        return Stored(tuple(paths[:1]), names[0], (outputs[0][0],))
    if len({shape[1:] for shape in outputs}) > 1:
        raise RecordError(f"{paths[0].name} and the files of other processes differ in shape", RUN_LEFT_OUT)
    note = (
        f"Outputs of {len(paths)} processes are combined; a sampler that pads the last batch counts a few examples "
        "twice."
    )
    return Stored(tuple(paths), common, tuple(shape[0] for shape in outputs), (note,))


def _head(path: Path) -> tuple[int, ...]:
    """Shape of the outputs, read from the array header only."""
    with reading_arrays(path), zipfile.ZipFile(path) as file, file.open(f"{OUTPUTS}.npy") as member:
        version = np.lib.format.read_magic(member)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape: tuple[int, ...] = read(member)[0]
    if not shape:
        raise RecordError(f"{path.name} does not have one row per example", RUN_LEFT_OUT)
    return shape


def _are_copies(paths: Sequence[Path], names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> bool:
    """Whether every rank evaluated the same examples."""
    if len({shape[0] for shape in shapes}) > 1:
        return False
    column = next((name for name in (KEYS, TRUTH) if name in names), OUTPUTS)
    first = np.sort(read_array(paths[0], column), axis=0)
    return all(np.array_equal(np.sort(read_array(path, column), axis=0), first) for path in paths[1:])


class StoredWeights(Mapping[str, npt.NDArray[np.float64]]):
    """Weights of several runs by name, shape (R, n) each, read one layer at a time when accessed.

    Iterating over all layers opens each file once, since a forest has thousands of arrays.
    """

    def __init__(self, paths: Sequence[Path], names: Sequence[str]) -> None:
        self._paths, self._names = tuple(paths), tuple(names)

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        if name not in self._names:
            raise KeyError(name)
        return _beside(read_array(path, name) for path in self._paths)

    def items(self) -> "ItemsView[str, npt.NDArray[np.float64]]":
        return _Items(self)

    def values(self) -> "ValuesView[npt.NDArray[np.float64]]":
        return _Values(self)

    def each(self) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
        """Yield names and weights. Raises RecordError where a file is damaged."""
        with ExitStack() as stack:
            try:
                files = [stack.enter_context(np.load(path, allow_pickle=False)) for path in self._paths]
                for name in self._names:
                    yield name, _beside(file[name] for file in files)
            except READ_ERRORS as error:
                raise RecordError(
                    f"captured weights cannot be read: {error}", "the captures of these runs are left out"
                ) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _Items(ItemsView[str, npt.NDArray[np.float64]]):
    _mapping: StoredWeights

    def __iter__(self) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
        return self._mapping.each()


class _Values(ValuesView[npt.NDArray[np.float64]]):
    _mapping: StoredWeights

    def __iter__(self) -> Iterator[npt.NDArray[np.float64]]:
        return (weights for _, weights in self._mapping.each())


def _beside(parts: Iterable[Array]) -> npt.NDArray[np.float64]:
    return np.stack([part.reshape(-1).astype(np.float64) for part in parts])
