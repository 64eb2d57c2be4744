"""Declares the JSON files of a record: the number of their format, and the fields of files that have no class.

A file with the fields of a dataclass (`Plan`, `Spec`, `Claim`, `Result`, `Platform`, `RunEnvironment`) is declared by
that class. Fields are written in the order of their declaration.
"""

from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from deviate.model.analysis import Loop, Metric, Site
from deviate.model.records import Revision

SCHEMA = 1
"""The number that each file begins with; a change of what a field means raises it."""

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


class FileEntry(Struct, frozen=True):
    """A file of the snapshot, or a folder that it links to, with its time of modification when it was frozen.

    Attributes:
        kind: "copied" for each run; "shared" by runs as the snapshot's copy; "linked" to the user's file by a hard
            link; "symlinked"; an "environment" is a symlinked folder of a virtual environment.
        size: None of a folder.
        sha256: of a file that was copied; empty of one that is linked, which may change.
    """

    kind: str
    mtime_ns: int
    size: int | None = None
    sha256: str = ""

    @property
    def content(self) -> str:
        """What tells the content from another one: its digest, or size and time where it is linked."""
        return self.sha256 or f"{self.size} {self.mtime_ns}"


class Manifest(Struct, frozen=True, kw_only=True):
    """`manifest.json` of a snapshot, as written by `instrument`.

    Attributes:
        main_loop: id of the main loop, None when the script has none.
        metrics: every metric the analysis found, whether the user selected it or not.
        unreached: what would be metrics if anything led to them, as `Analysis.unreached`.
        prepared: files that were not as they were frozen once the project was prepared; None for those that had gone.
        git: None where the project is in no repository; without the diff, which is a file of the snapshot.
        notebooks: those of which the tree has the script.
        own_output: files that received output of deviate itself.
        digests: path in the snapshot to SHA-256, of what deviate has written there.
    """

    root: str
    sources_hash: str
    main_loop: int | None
    files: dict[str, FileEntry]
    linked_folders: dict[str, FileEntry]
    sites: tuple[Site, ...]
    metrics: tuple[Metric, ...]
    warnings: tuple[str, ...]
    loops: tuple[Loop, ...] = ()
    unreached: tuple[Metric, ...] = ()
    prepared: dict[str, FileEntry | None] = {}
    git: Revision | None = None
    notebooks: tuple[str, ...] = ()
    own_output: tuple[str, ...] = ()
    digests: dict[str, str] = {}

    def of_kind(self, *kinds: str) -> dict[str, FileEntry]:
        """Files and linked folders of these kinds by name, as they were when the project was prepared."""
        files = self.files | self.prepared | self.linked_folders
        return {name: file for name, file in files.items() if file is not None and file.kind in kinds}
