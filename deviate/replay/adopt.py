"""What earlier executors left: results that stand, and attempts whose executor died, which are ended.

An attempt is made in one step with its claim inside, and the one with the lowest number that has not ended owns the
run: whoever finds, after making its own, that an earlier one lives gives its own back. So two executors that start at
the same moment never run the same run twice.
"""

import os
import shutil
import socket
import time
from collections.abc import Iterable
from pathlib import Path

from deviate.errors import InUseError, RecordError
from deviate.model import Spec
from deviate.records.attempts import (
    STALE_S,
    Claim,
    Result,
    is_intact,
    read_claim,
    read_result,
    write_claim,
    write_result,
)  # fmt: skip
from deviate.records.layout import attempt_folder, attempt_number, attempts, result_file, spec_file
from deviate.records.specs import read_spec, spec_hash
from deviate.replay.outcomes import SETTLED
from deviate.replay.processes import birth, end_group, end_processes, is_alive, processes_of

TEMPORARY = "deviate-"
"""How the names of temporary folders of runs begin."""
MAKING = ".attempt-"
"""How the name of a folder begins that is to become an attempt."""


def settled_attempt(run: Path, spec: Spec) -> tuple[Path, Result] | None:
    """The attempt that makes the run done, None when it has to run (again): one whose events were all kept."""
    for attempt in reversed(attempts(run)):
        result = read_result(attempt)
        if result is not None and result.status in SETTLED and result.spec_hash == spec_hash(spec):
            return (attempt, result) if is_intact(attempt, result) else None
    return None


def end_orphans(runs: Iterable[Path]) -> None:
    """End what executors that died have left running, and give those attempts a result: lost.

    Raises:
        InUseError: somebody else runs one of these runs now.
    """
    for run in runs:
        for attempt in attempts(run):
            if not result_file(attempt).exists():
                _end_orphan(attempt)
                _remove_left_over(attempt)
        _remove_left_over(run)


def claim_attempt(run: Path, *, continues: int | None = None) -> tuple[Path, Claim]:
    """Make the next attempt with its claim.

    Raises:
        InUseError: somebody else was faster.
    """
    before = attempts(run)
    attempt = attempt_folder(run, 1 + (attempt_number(before[-1]) or 0 if before else 0))
    now = time.time()
    claim = Claim(socket.gethostname(), os.getpid(), birth(os.getpid()), now, now, continues=continues)
    making = _making(run)
    making.mkdir(parents=True)
    write_claim(making, claim)
    try:
        making.rename(attempt)  # fails where there is one: a folder with a claim is never empty
    except OSError as error:
        shutil.rmtree(making, ignore_errors=True)
        if attempt.exists():
            raise _in_use(run, _holder(read_claim(attempt))) from error
        raise
    for earlier in attempts(run):
        if earlier != attempt and not result_file(earlier).exists():
            give_back(attempt)
            raise _in_use(run, _holder(read_claim(earlier)))
    return attempt, claim


def give_back(attempt: Path) -> None:
    """Take away an attempt in which nothing was begun. It never stands there without its claim.

    A result would be the latest of the run, and would be told in place of the one that makes it done.
    """
    left = _making(attempt.parent)
    attempt.rename(left)
    shutil.rmtree(left, ignore_errors=True)


def temporary_of(claim: Claim) -> Path | None:
    """The temporary folder of a run, if it is there, on this machine, and one of ours: a claim may be damaged."""
    path = Path(claim.temporary)
    is_ours = path.is_absolute() and path.name.startswith(TEMPORARY) and path.is_dir() and not path.is_symlink()
    return path if is_ours and claim.host == socket.gethostname() else None


def holds(claim: Claim) -> bool:
    """Whether the executor of a claim lives: asked of the system on this machine, told by its heartbeat elsewhere."""
    if claim.host == socket.gethostname():
        return is_alive(claim.pid, claim.birth)
    return time.time() - claim.heartbeat < STALE_S


def _end_orphan(attempt: Path) -> None:
    claim = read_claim(attempt)
    if claim is not None and holds(claim) and not _is_mine(claim):
        raise _in_use(attempt.parent, _holder(claim))
    if claim is None or claim.host == socket.gethostname():
        if claim is not None and claim.process is not None and is_alive(claim.process, claim.process_birth):
            end_group(claim.process)
        end_processes(lambda: processes_of(attempt))
    temporary = None if claim is None else temporary_of(claim)
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)
    write_result(
        attempt,
        Result(
            _hash(attempt.parent),
            "lost",
            None,
            None,
            claim.started if claim else 0.0,
            0.0,
            "its executor died: deviate or the machine stopped",
            cause="node",
            device=claim.device if claim else "",
        ),
    )


def _making(run: Path) -> Path:
    return run / f"{MAKING}{time.time_ns()}.{socket.gethostname()}-{os.getpid()}"


def _remove_left_over(folder: Path) -> None:
    """Remove what was being written when its writer died, who is told by the end of its name."""
    for left in folder.glob(".*"):
        host, _, pid = left.name.rpartition("-")
        is_here = host.endswith(f".{socket.gethostname()}") and pid.isdecimal()
        if birth(int(pid)) if is_here else time.time() - left.lstat().st_mtime < STALE_S:
            continue
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _is_mine(claim: Claim) -> bool:
    return (claim.host, claim.pid) == (socket.gethostname(), os.getpid())


def _hash(run: Path) -> str:
    """The hash of a run's spec; empty when a power cut took the file, for nothing that ended well hangs on it here."""
    try:
        return spec_hash(read_spec(spec_file(run)))
    except RecordError:
        return ""


def _holder(claim: Claim | None) -> str:
    if claim is None:
        return "another process"
    return f"process {claim.pid}{'' if claim.host == socket.gethostname() else f' on {claim.host}'}"


def _in_use(run: Path, by: str) -> InUseError:
    experiment = run.parent.parent
    return InUseError(
        f"the experiment in {experiment} is being run by {by}",
        "wait until that has ended, or stop it, then resume",
    )
