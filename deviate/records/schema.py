"""Declares the JSON files of a record: format numbers, and the fields of files that have no class of their own.

A file with the fields of a dataclass (`Plan`, `Spec`, `Claim`, `Result`, `Platform`, `RunEnvironment`) is declared by
that class. Fields are written in the order of their declaration.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from deviate.errors import RecordError
from deviate.model import LoopCounter, LoopKind, Metric

FileFormat = Literal["experiment", "spec", "claim", "result", "manifest", "environment", "platform", "profile"]

SCHEMA: dict[FileFormat, int] = {
    "experiment": 6,
    "spec": 5,
    "claim": 3,
    "result": 3,
    "manifest": 2,
    "environment": 2,
    "platform": 2,
    "profile": 1,
}
"""The number of each format; a change of what a field means raises it."""


def check_schema(document: dict[str, Any], file_format: FileFormat, path: Path) -> None:
    """Refuse files of another format instead of misreading them.

    Raises:
        RecordError: the number is missing or is not the one known here.
    """
    number = document.get("schema")
    if not isinstance(number, int) or isinstance(number, bool):
        raise RecordError(f"{path} is damaged: it has no schema number", "restore it from a backup, or delete it")
    if number != SCHEMA[file_format]:
        raise RecordError(
            f"{path} has schema {number}; this deviate reads {SCHEMA[file_format]}",
            "read it with the version of deviate that wrote it",
        )


Cause = Literal["", "exit", "signal", "memory", "time", "stall", "cancel", "node", "silent", "disk", "checkpoint"]
"""Why a run ended that failed: its exit code; a signal; out of memory; a time-out; no sign of life; the user; the
executor or its machine; no report of the guest; a full disk; a checkpoint of an earlier training."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the plan: its time, and the new values of the changed fields."""

    time: float
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reported:
    """A report that was shown: the number of planned runs per variant at that time, alone or in a comparison."""

    time: float
    n_runs: int
    is_comparison: bool = False


class FileEntry(Struct):
    """A file of the snapshot."""

    kind: str
    mtime_ns: int
    size: int | None = None


class FolderEntry(Struct):
    """A folder that the snapshot links to."""

    mtime_ns: int
    is_environment: bool


class LoopEntry(Struct):
    """A loop with a tap."""

    id: int
    file: str
    line: int
    kind: LoopKind
    evidence: tuple[str, ...] = ()
    counter: LoopCounter | None = None


class SiteEntry(Struct):
    """A place with a tap."""

    id: int
    file: str
    line: int
    sink: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """Git state of the project; `n_untracked` counts files that are neither tracked nor ignored.

    Attributes:
        untracked: names of the sources and texts among them.
        is_cut: the diff that the snapshot keeps is not all of it.
    """

    commit: str | None
    branch: str | None
    is_dirty: bool
    n_untracked: int
    untracked: tuple[str, ...] = ()
    is_cut: bool = False


class ManifestFile(Struct, kw_only=True):
    """`manifest.json` of a snapshot, as written by `instrument`: the fields that records and replay read.

    Attributes:
        prepared: files that were not as they were frozen once the project was prepared; None for those that had gone.
    """

    root: str
    sources_hash: str
    main_loop: int | None
    files: dict[str, FileEntry]
    linked_folders: dict[str, FolderEntry]
    sites: tuple[SiteEntry, ...]
    metrics: tuple[Metric, ...]
    warnings: tuple[str, ...]
    loops: tuple[LoopEntry, ...] = ()
    unreached: tuple[Metric, ...] = ()
    prepared: dict[str, FileEntry | None] = {}
    git: Commit | None = None
    digests: dict[str, str] = {}


class ManifestOutput(Struct):
    """Of `manifest.json`: files that received output of deviate itself."""

    own_output: tuple[str, ...] = ()


class ProfileFile(Struct):
    """A profile of a window of steps, as written by the guest; each kernel has a name, calls and seconds."""

    framework: str
    device: str
    measure: str
    window: tuple[int, int]
    n_updates: int | None
    wall_s: float
    reading_s: float
    kernels: tuple[tuple[str, float, float], ...]
