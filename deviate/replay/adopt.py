"""What earlier executors left: results that stand, and attempts whose executor died, which are ended."""

import os
import socket
import time
from pathlib import Path

from deviate.errors import RunError
from deviate.model import Spec
from deviate.records.attempts import STALE_S, Claim, Result, read_claim, read_result, write_result
from deviate.records.layout import attempt_folder, attempt_number, attempts
from deviate.records.specs import spec_hash
from deviate.replay.outcomes import SETTLED
from deviate.replay.processes import birth, end_group, end_processes, is_alive, processes_of


def settled_attempt(run: Path, spec: Spec) -> tuple[Path, Result] | None:
    """The attempt that makes the run done, None when it has to run (again). Ends orphans of dead executors first.

    Raises:
        RunError: somebody else runs it now.
    """
    for attempt in attempts(run):
        if read_result(attempt) is None:
            _end_orphans(attempt, spec)
    for attempt in reversed(attempts(run)):
        result = read_result(attempt)
        if result is not None and result.status in SETTLED and result.spec_hash == spec_hash(spec):
            return attempt, result
    return None


def claim_attempt(run: Path) -> tuple[Path, Claim]:
    """Make the next attempt and claim it; making the folder is the lock.

    Raises:
        RunError: somebody else was faster.
    """
    before = attempts(run)
    attempt = attempt_folder(run, 1 + (attempt_number(before[-1]) or 0 if before else 0))
    try:
        attempt.mkdir(parents=True)
    except FileExistsError as error:
        raise _in_use(run, "another process") from error
    now = time.time()
    return attempt, Claim(socket.gethostname(), os.getpid(), birth(os.getpid()), now, now)


def _end_orphans(attempt: Path, spec: Spec) -> None:
    claim = read_claim(attempt)
    if claim is not None and claim.host != socket.gethostname():
        if time.time() - claim.heartbeat < STALE_S:
            raise _in_use(attempt.parent, f"process {claim.pid} on {claim.host}")
    elif claim is not None and claim.pid != os.getpid() and is_alive(claim.pid, claim.birth):
        raise _in_use(attempt.parent, f"process {claim.pid}")
    else:
        if claim is not None and claim.process is not None and is_alive(claim.process, claim.process_birth):
            end_group(claim.process)
        end_processes(lambda: processes_of(attempt))
    started = claim.started if claim else 0.0
    write_result(
        attempt,
        Result(spec_hash(spec), "lost", None, None, started, 0.0, "its executor died: deviate or the machine stopped"),
    )


def _in_use(run: Path, by: str) -> RunError:
    experiment = run.parent.parent
    return RunError(
        f"the experiment in {experiment} is being run by {by}",
        "wait until that has ended, or stop it, then resume",
    )
