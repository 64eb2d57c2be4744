"""Declares the JSON files of a record: format numbers, one dated line per format change, and their fields.

Every earlier format stays readable: fields that it lacks have defaults. A file with the fields of a dataclass
(`Claim`, `Platform`, `RunEnvironment`) is declared by that class. Fields are written in the order of their declaration.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from deviate.errors import RecordError
from deviate.model import LoopCounter, LoopKind, Metric, PastComparison, PrimaryChoice, SelectedMetric, Spending, Status
from deviate.model.plan import SweptValue
from deviate.registry import Plugin

FileFormat = Literal["experiment", "spec", "claim", "result", "manifest", "environment", "platform", "profile"]

SCHEMA: dict[FileFormat, int] = {
    # 2026-11-21  1  first format
    # 2026-11-21  2  each variant with its whole definition: description, varied, held, controls, perturbations
    # 2026-11-22  3  environment, then, prepare, wrap, n_threads, settings, looks, precision, reported
    # 2026-11-22  4  imported, tasks; of metrics target and n_examples
    # 2026-11-22  5  capture, sweep
    # 2026-11-23  6  streams, scores; left out at 1, and where deviate did not run the experiment; digest
    # 2026-11-26  6  origins; left out where they are not recorded, and ignored by versions that do not know them
    "experiment": 6,
    # 2026-11-21  1  first format
    # 2026-11-21  2  controls; left out when empty, as in the hash, so that specs without them keep their hashes
    # 2026-11-22  3  then, wrap; left out when empty, as controls are
    # 2026-11-22  4  capture; left out when empty, as controls are
    # 2026-11-23  5  streams, scores; left out at 1; varied; left out when empty, and no part of the hash; digest
    "spec": 5,
    # 2026-11-21  1  first format
    # 2026-11-22  2  device, temporary, continues
    # 2026-11-23  3  boot, namespace, digest
    "claim": 3,
    # 2026-11-21  1  first format
    # 2026-11-22  2  cause, device, n_sharing, events
    # 2026-11-23  3  files with size and digest in place of events; digest
    "result": 3,
    # 2026-11-21  1  first format; written by instrument
    # 2026-11-23  2  digests, digest
    "manifest": 2,
    # 2026-11-22  1  first format
    # 2026-11-23  2  digest
    "environment": 2,
    # 2026-11-22  1  first format; what many environments share
    # 2026-11-23  2  digest
    "platform": 2,
    "profile": 1,  # 2026-11-22  1  first format; written by the guest
}

HAS_DIGEST: dict[FileFormat, int] = {
    "experiment": 6, "spec": 5, "claim": 3, "result": 3, "manifest": 2, "environment": 2, "platform": 2,
}  # fmt: skip
"""Schema number from which a file has a digest of its fields: a file without one is damaged, unless it is older."""


def check_schema(document: dict[str, Any], file_format: FileFormat, path: Path) -> None:
    """Refuse files written by a newer deviate instead of misreading them.

    Raises:
        RecordError: the number is missing or above the one known here.
    """
    number = document.get("schema")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise RecordError(f"{path} is damaged: it has no schema number", "restore it from a backup, or delete it")
    if number > SCHEMA[file_format]:
        raise RecordError(
            f"{path} has schema {number}; this deviate reads up to {SCHEMA[file_format]}",
            "update deviate: a newer version wrote this record",
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


class SettingsEntry(Struct):
    """`Settings`, with the options of the executor as an object."""

    executor: str
    options: dict[str, str]
    jobs: int
    gpus: tuple[str, ...] | None
    per_gpu: int
    gpus_per_run: int
    timeout_s: float | None
    stall_timeout_s: float | None
    retries: int
    max_failures: int | None
    ignored_codes: tuple[int, ...]
    requeue: Literal["fresh", "continue"]
    keep: Literal["none", "best", "all"]


class VariantEntry(Struct):
    """A variant of an experiment; the first format has names alone."""

    name: str
    n_runs: int
    description: str | UnsetType = UNSET
    varied: tuple[str, ...] | UnsetType = UNSET
    held: tuple[str, ...] | UnsetType = UNSET
    controls: dict[str, str] | UnsetType = UNSET
    perturbations: tuple[dict[str, str], ...] | UnsetType = UNSET
    are_trackers_offline: bool | UnsetType = UNSET


class ExperimentFile(Struct, kw_only=True):
    """`experiment.json`: a `Plan`.

    Left out are `streams` and `scores` with usual values, empty `plugins`, `is_selection_fixed` unless it is true,
    `primary` where no metric could be chosen, and `n_ended` and `origins` in files of older versions.
    """

    name: str
    created: float
    root: str
    command: tuple[str, ...]
    cwd: str
    seed: int
    sources_hash: str
    jobs: int
    variants: tuple[VariantEntry, ...]
    selection: tuple[SelectedMetric, ...]
    history: tuple[Change, ...]
    environment: dict[str, str] = {}
    prepare: tuple[tuple[str, ...], ...] = ()
    then: tuple[tuple[str, ...], ...] = ()
    wrap: tuple[str, ...] = ()
    n_threads: int | None = None
    settings: SettingsEntry | None = None
    looks: tuple[int, ...] = ()
    spending: Spending = "obrien-fleming"
    precision: str = ""
    reported: tuple[Reported, ...] = ()
    past_comparisons: tuple[PastComparison, ...] = ()
    imported: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    capture: dict[str, str] = {}
    sweep: SweptValue | None = None
    streams: int | UnsetType | None = UNSET
    scores: int | UnsetType | None = UNSET
    plugins: tuple[Plugin, ...] | UnsetType = UNSET
    is_selection_fixed: bool | UnsetType = UNSET
    primary: PrimaryChoice | UnsetType = UNSET
    margin: float | None = None
    n_ended: int | UnsetType = UNSET
    origins: dict[str, str] | UnsetType = UNSET


class SpecFile(Struct, kw_only=True, omit_defaults=True):
    """`spec.json`: a `Spec`. What older formats lack is left out when empty, so that their specs keep their hashes."""

    sources_hash: str
    command: tuple[str, ...]
    cwd: str
    variant: str
    replicate: int
    seeds: dict[str, int]
    environment: dict[str, str]
    controls: dict[str, str] = {}
    then: tuple[tuple[str, ...], ...] = ()
    wrap: tuple[str, ...] = ()
    capture: dict[str, str] = {}
    streams: int = 1
    scores: int = 1
    varied: tuple[str, ...] = ()
    spec_hash: str = ""


class ResultFile(Struct, kw_only=True):
    """`result.json`: a `Result`.

    Attributes:
        files: name of each file to its size and digest; unset in formats that had no digests.
        events: name of each event file to its size, in format 2 alone.
    """

    spec_hash: str
    status: Status
    exit_code: int | None
    signal: str | None
    started: float
    wall_time_s: float
    reason: str
    warnings: tuple[str, ...]
    cause: Cause = ""
    device: str = ""
    n_sharing: int = 0
    files: dict[str, tuple[int, str]] | UnsetType | None = UNSET
    events: dict[str, int] | UnsetType = UNSET


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
    label: str | None = None


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
        unreached: since 2026-11-26.
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
    prepared: dict[str, FileEntry | None] | UnsetType = UNSET
    git: Commit | UnsetType | None = UNSET
    digests: dict[str, str] | UnsetType = UNSET


class ManifestOutput(Struct):
    """Of `manifest.json`: files that received output of deviate itself. Since 2026-11-26."""

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
