"""The files of a run: its spec, whose hash is its name, and what an executor writes into an attempt.

A claim stands there while the attempt is running, a result when it has ended.
"""

import contextlib
import dataclasses
import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deviate.base.digests import document_digest, file_digest
from deviate.errors import RecordError
from deviate.model.plan import Spec
from deviate.model.records import Status
from deviate.records.files import find_record, read_record, reading, to_builtins, write_record
from deviate.records.layout import WORK, artifacts_folder, attempt_folder, claim_file, result_file, spec_file
from deviate.records.schema import Cause

ID_DIGITS = 16


def spec_hash(spec: Spec) -> str:
    """SHA-256 of the canonical JSON: keys sorted, no spaces, so that every machine computes the same."""
    document = to_builtins(dataclasses.replace(spec, varied=()))
    del document["weights"]
    return document_digest(document)


def run_id(spec: Spec) -> str:
    """Name of the run folder: the first hexadecimal digits of the hash."""
    return spec_hash(spec)[:ID_DIGITS]


def write_spec(path: Path, spec: Spec) -> None:
    """Write the spec without fsync; one that a power cut takes is computed again from the plan."""
    write_record(path, spec, is_durable=False)


def keep_spec(path: Path, spec: Spec) -> None:
    """Write the spec where it is missing or damaged: a power cut may have taken it."""
    found = find_record(path, Spec)
    if found != spec or found.weights != spec.weights:
        write_spec(path, spec)


def read_spec(path: Path) -> Spec:
    """Raises RecordError when the file is damaged."""
    return read_record(path, Spec)


def spec_of(run: Path) -> Spec:
    """The spec of the run in a folder. Raises RecordError when it is damaged or belongs to another run."""
    spec = read_spec(spec_file(run))
    if run_id(spec) != run.name:
        raise RecordError(f"{spec_file(run)} belongs to another run")
    return spec


HEARTBEAT_S = 5.0
"""Seconds between renewals of a claim by its executor."""
STALE_S = 60.0
"""Observed seconds without renewal after which a claim of another machine is given up."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The executor that is running this attempt.

    Attributes:
        host, boot, namespace: of the machine, as in `Machine`.
        pid, birth: the executor; `birth` tells it from a later process with the same number.
        process, process_birth: leader of the run's process group; None until it has started.
        heartbeat: when the executor last said that it lives.
        device: what the run was given, such as "GPU 0"; empty where it was given nothing.
        temporary: its folder for temporary files, outside of the record; empty when there is none.
        continues: number of the attempt whose work copy it took over, None for a fresh one.
    """

    host: str
    pid: int
    birth: str
    started: float
    heartbeat: float
    process: int | None = None
    process_birth: str = ""
    device: str = ""
    temporary: str = ""
    continues: int | None = None
    boot: str = ""
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt ended.

    Attributes:
        signal: what killed the command.
        warnings: for the user.
        cause: what kind of failure it was; empty where there was none.
        device, n_sharing: as in `Run`.
        files: each file that the attempt had when it ended: its path below the attempt to its bytes and their SHA-256.
    """

    spec_hash: str
    status: Status
    exit_code: int | None
    signal: str | None
    started: float
    wall_time_s: float
    reason: str = ""
    warnings: tuple[str, ...] = ()
    cause: Cause = ""
    device: str = ""
    n_sharing: int = 0
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def write_claim(attempt: Path, claim: Claim) -> None:
    write_record(claim_file(attempt), claim, is_durable=False)


def read_claim(attempt: Path) -> Claim | None:
    """The claim, or None when there is none that can be read: the executor died while it wrote."""
    return find_record(claim_file(attempt), Claim)


def write_result(attempt: Path, result: Result) -> Result:
    """Write the result, the last file of an attempt: it marks the end, and holds digests of all other files.

    Whoever ends an attempt calls this, the executor that ran it or the one that found it orphaned.

    Raises:
        RecordError: a file cannot be read, or the disk does not take the result.
    """
    try:
        files = {
            path.relative_to(attempt).as_posix(): (size := path.stat().st_size, _digest(path, size))
            for path in recorded_files(attempt)
        }
    except (OSError, ValueError) as error:
        raise RecordError(f"reading the files of {attempt}: {error}", "check the disk; then resume") from error
    written = dataclasses.replace(result, files=files)
    write_record(result_file(attempt), written)
    return written


def recorded_files(attempt: Path) -> list[Path]:
    """Files of an attempt that can influence a report: not the result, the work copy or partially written files."""
    paths: list[Path] = []
    for folder, folders, names in os.walk(attempt):
        place = Path(folder)
        folders[:] = [name for name in folders if not (place == attempt and name == WORK)]
        paths += [place / name for name in names if not name.startswith(".") and place / name != result_file(attempt)]
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def damaged_files(attempt: Path, result: Result) -> tuple[str, ...]:
    """Files that changed after the attempt ended. A file that only grew is not damaged.

    Captured outputs and weights that were removed are not damaged.

    Args:
        result: that of the attempt. The attempts whose work copy it took over are looked at as well.
    """
    damaged_names = _find_damaged(attempt, result)
    for part in collect_continued(attempt)[:-1]:
        before = find_result(part)
        damaged = (result_file(part).name,) if before is None else _find_damaged(part, before)
        damaged_names += [f"{part.name}/{name}" for name in damaged]
    return tuple(damaged_names)


def _find_damaged(attempt: Path, result: Result) -> list[str]:
    damaged = []
    for name, (size, digest) in result.files.items():
        path = attempt / name
        if artifacts_folder(attempt) in path.parents and not path.exists():
            continue  # `deviate clean --captured` removes them, and the report says that they are gone
        is_same = False
        with contextlib.suppress(OSError, ValueError):
            is_same = path.is_file() and path.stat().st_size >= size and _digest(path, size) == digest
        damaged += [] if is_same else [name]
    return damaged


def _digest(path: Path, size: int) -> str:
    """SHA-256 of the first bytes of a file, cached until the file changes."""
    facts = path.stat()
    return _known_digest(path, size, facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


@functools.lru_cache(maxsize=1 << 14)
def _known_digest(path: Path, size: int, *facts: int) -> str:  # noqa: ARG001  (they tell one state from another)
    return file_digest(path, size)


def collect_continued(attempt: Path) -> tuple[Path, ...]:
    """The attempt preceded by those whose work copies it continued, oldest first; together they are one run.

    Steps count on from one to the next, so a step that was cut off and is repeated counts twice.
    """
    chain = [attempt]
    while (claim := read_claim(chain[0])) is not None and claim.continues is not None:
        before = attempt_folder(attempt.parent, claim.continues)
        if before in chain:  # a damaged claim
            break
        chain.insert(0, before)
    return tuple(chain)


def read_result(attempt: Path) -> Result | None:
    """Read the result of an attempt, or return None when it has not ended.

    Raises:
        RecordError: the file is there and damaged.
    """
    path = result_file(attempt)
    if not path.exists():
        return None
    result = read_record(path, Result)
    with reading(path):
        for name in result.files:
            if not name or name.startswith("/") or ".." in name.split("/"):
                raise ValueError(f"{name!r} is not a file of the attempt")
    return result


def find_result(attempt: Path) -> Result | None:
    """Read the result, or return None when the attempt has not ended or the file is damaged."""
    try:
        return read_result(attempt)
    except RecordError:
        return None


def read_intact_result(attempt: Path) -> Result | None:
    """Read the result, or return None when the attempt has not ended or any of its files is damaged."""
    result = find_result(attempt)
    return None if result is None or damaged_files(attempt, result) else result
