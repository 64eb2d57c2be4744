"""What an executor leaves in an attempt: a claim while it lives, a result when it has ended."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deviate.errors import RecordError
from deviate.model import Status
from deviate.records.files import read_json, reading, write_json
from deviate.records.layout import claim_file, result_file

Cause = Literal["", "exit", "signal", "memory", "time", "stall", "cancel", "node", "silent", "disk", "checkpoint"]
"""What ended a run that failed: its exit code; a signal; want of memory; a time-out; no sign of life; the user; the
executor or its machine; no word from the guest; a full disk; a checkpoint of an earlier training."""

HEARTBEAT_S = 5.0
"""An executor renews its claims this often …"""
STALE_S = 60.0
"""… and a claim that was not renewed for so long is given up; generous, for clocks of machines differ."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Who runs this attempt.

    Attributes:
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


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt ended.

    Attributes:
        signal: what killed the command.
        warnings: for the user.
        cause: what kind of failure it was; empty where there was none.
        device, n_sharing: as in `Run`.
        events: name to size of each event file: one that is shorter has lost what was recorded.
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
    events: tuple[tuple[str, int], ...] = ()


def write_claim(attempt: Path, claim: Claim) -> None:
    write_json(claim_file(attempt), "claim", dataclasses.asdict(claim), is_durable=False)


def read_claim(attempt: Path) -> Claim | None:
    """The claim, or None when there is none that can be read: the executor died while it wrote."""
    try:
        path = claim_file(attempt)
        document = read_json(path, "claim")
        with reading(path):
            return Claim(
                host=str(document["host"]),
                pid=int(document["pid"]),
                birth=str(document["birth"]),
                started=float(document["started"]),
                heartbeat=float(document["heartbeat"]),
                process=None if document["process"] is None else int(document["process"]),
                process_birth=str(document["process_birth"]),
                device=str(document.get("device", "")),
                temporary=str(document.get("temporary", "")),
                continues=document.get("continues"),
            )
    except RecordError:
        return None


def write_result(attempt: Path, result: Result) -> None:
    """The last file of an attempt: from now on it has ended."""
    write_json(result_file(attempt), "result", {**dataclasses.asdict(result), "events": dict(result.events)})


def is_intact(attempt: Path, result: Result) -> bool:
    """Whether the event files are as long as they were when the attempt ended; one that has grown lacks nothing."""
    try:
        return all((attempt / name).stat().st_size >= size for name, size in result.events)
    except OSError:
        return False


def read_result(attempt: Path) -> Result | None:
    """The result; None when the attempt has not ended.

    Raises:
        RecordError: the file is there and damaged.
    """
    path = result_file(attempt)
    if not path.exists():
        return None
    document = read_json(path, "result")
    with reading(path):
        return Result(
            spec_hash=str(document["spec_hash"]),
            status=document["status"],
            exit_code=None if document["exit_code"] is None else int(document["exit_code"]),
            signal=None if document["signal"] is None else str(document["signal"]),
            started=float(document["started"]),
            wall_time_s=float(document["wall_time_s"]),
            reason=str(document["reason"]),
            warnings=tuple(map(str, document["warnings"])),
            cause=document.get("cause", ""),
            device=str(document.get("device", "")),
            n_sharing=int(document.get("n_sharing", 0)),
            events=tuple((str(name), int(size)) for name, size in document.get("events", {}).items()),
        )
