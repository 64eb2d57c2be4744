"""Whether executors on other machines are alive, from what they write while this process is watching.

Clocks of machines differ, so the age of a heartbeat is not reliable: an executor is alive if its claim or the output of
its run changes between two observations. The time in between is measured with the clock of this process.
"""

import contextlib
import time
from pathlib import Path

from deviate.records import STALE_S, Claim, claim_file, event_files, log_files, this_machine
from deviate.replay.processes import is_alive

CLOCKS_S = 900.0
"""By how much clocks of machines may differ before one who only looks once is told something wrong."""
ABANDONED_S = 86_400.0
"""What was not written for so long by any clock, nobody writes any more: no clock that is only off is off by a day."""

Written = tuple[bytes, tuple[tuple[str, int], ...]]


HEARTBEATS: dict[Path, tuple[Written, float, bool]] = {}
"""What this process has seen of attempts: what stood there, since when it has, and whether it ever changed."""


def is_here(claim: Claim) -> bool:
    """Whether this process can look up the process numbers of a claim."""
    machine = this_machine()
    return (claim.host, claim.boot, claim.namespace) == (machine.host, machine.boot, machine.namespace)


def is_living(attempt: Path, claim: Claim | None, *, stale_s: float | None = None) -> bool | None:
    """Whether the executor of an unfinished attempt is alive; None if it is unknown yet and has to be checked again.

    Args:
        claim: None where it is missing or cannot be read.
        stale_s: after how many seconds without a change it is taken for dead, by default `STALE_S`.
    """
    if claim is not None and is_here(claim):
        return is_alive(claim.pid, claim.birth)
    if not claim_file(attempt).exists() or _is_abandoned(attempt, claim):
        return False
    still_s, has_changed = _look(attempt)
    if still_s >= (STALE_S if stale_s is None else stale_s):
        return False
    return True if has_changed else None


def _look(attempt: Path) -> tuple[float, bool]:
    """For how many seconds nothing was written, as far as this process has seen, and whether anything ever was."""
    now = time.monotonic()
    written = _read_written(attempt)
    before, since, has_changed = HEARTBEATS.get(attempt, (written, now, False))
    if before != written:
        since, has_changed = now, True
    HEARTBEATS[attempt] = written, since, has_changed
    return now - since, has_changed


def may_live(claim: Claim) -> bool:
    """Whether an executor may be alive, for a single check without waiting; only certain on this machine."""
    if is_here(claim):
        return is_alive(claim.pid, claim.birth)
    return abs(time.time() - claim.heartbeat) < CLOCKS_S


def _is_abandoned(attempt: Path, claim: Claim | None) -> bool:
    try:
        written = claim_file(attempt).stat().st_mtime
    except OSError:
        return False
    latest = written if claim is None else max(written, claim.heartbeat)
    return time.time() - latest > ABANDONED_S


def _read_written(attempt: Path) -> Written:
    claim = b""
    with contextlib.suppress(OSError):
        claim = claim_file(attempt).read_bytes()
    sizes = []
    for path in (*event_files(attempt), *log_files(attempt)):
        with contextlib.suppress(OSError):
            sizes.append((path.name, path.stat().st_size))
    return claim, tuple(sizes)
