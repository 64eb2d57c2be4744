"""Importers by name: results that something else wrote become runs with measurements; one file per format."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec

from deviate.model.analysis import Direction, Role
from deviate.model.records import Series, Status
from deviate.registry import Registry


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run read from a file of another tool.

    Attributes:
        label: what it was called there, such as a file or the name of a tracker's run.
        series: metric name to measurements; a single score is a series of one value at step None.
        started: seconds since the epoch, 0 where that is not known; wall_time_s: 0 where not known.
        environment: facts that were recorded with it (versions, settings), name to text.
        seeds: what it was seeded with, by the name that stood there; runs of two experiments are paired by them.
    """

    label: str
    series: dict[str, Series]
    status: Status = "completed"
    started: float = 0.0
    wall_time_s: float = 0.0
    environment: dict[str, str] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """A metric on file, and how its scores are read."""

    aggregate: str
    direction: Direction | None
    margin: Annotated[float, msgspec.Meta(gt=0)] | None
    primary: bool
    role: Role
    unit: str


@dataclass(frozen=True, slots=True)
class Imported:
    """An experiment read from files of another tool.

    Attributes:
        name: as it was called there, or from the name of the file.
        form: name of the importer.
        tasks: names of metrics that are one measure on several tasks or data sets.
        stated: how metrics are read, where it stood there; of others the names tell.
        notes: sentences for the user: what was guessed and how to say otherwise, what was relabelled, what is missing.
        arguments: those of `deviate import` by which it was read, where it is no file.
    """

    name: str
    form: str
    sources: tuple[Path, ...]
    runs: tuple[ImportedRun, ...]
    tasks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stated: Mapping[str, MetricEntry] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


Read = Callable[[Path], tuple[Imported, ...]]


@dataclass(frozen=True, slots=True)
class Importer:
    """An importer for one file format.

    Attributes:
        claims: whether a path looks like this format; it opens as little as it can, and raises nothing.
        read: the experiments in one file or folder, one where the format knows no more. Raises InputError with what to
            do next for a damaged file, or a library that is not installed.
        rank: of two importers that claim the same path the higher one reads it.
    """

    name: str
    claims: Callable[[Path], bool]
    read: Read
    rank: int


IMPORTERS: Registry[Importer] = Registry("deviate.records.importers", "deviate.importers")


def importer(name: str, *, claims: Callable[[Path], bool], rank: int = 0) -> Callable[[Read], Read]:
    """Register the decorated function, which reads a path, as the importer of that name.

    It returns the experiments in one file or folder, and raises `InputError` for a damaged one.

    Args:
        name: as in `deviate import --format NAME`.
        claims: whether a path looks like this format; it opens as little as it can, and raises nothing.
        rank: of two importers that claim the same path the higher one reads it.
    """

    def register(read: Read) -> Read:
        IMPORTERS.add(name, Importer(name, claims, read, rank), read.__module__)
        return read

    return register
