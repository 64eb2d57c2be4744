"""What an executor leaves in an attempt: a claim while it lives, a result when it has ended."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from deviate.errors import RecordError
from deviate.model import Status
from deviate.records.files import read_json, reading, write_json
from deviate.records.layout import claim_file, result_file

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
    """

    host: str
    pid: int
    birth: str
    started: float
    heartbeat: float
    process: int | None = None
    process_birth: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt ended. `signal` names what killed the command; `warnings` are for the user."""

    spec_hash: str
    status: Status
    exit_code: int | None
    signal: str | None
    started: float
    wall_time_s: float
    reason: str = ""
    warnings: tuple[str, ...] = ()


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
            )
    except RecordError:
        return None


def write_result(attempt: Path, result: Result) -> None:
    """The last file of an attempt: from now on it has ended."""
    write_json(result_file(attempt), "result", dataclasses.asdict(result))


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
        )
