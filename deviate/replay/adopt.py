"""What earlier executors left: results that stand, and attempts whose executor died, which are ended.

An attempt is made in one step with its claim inside, and the one with the lowest number that has not ended owns the
run: whoever finds, after making its own, that an earlier one lives gives its own back. So two executors that start at
the same moment never run the same run twice.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeGuard

from deviate.errors import InUseError, RecordError
from deviate.model.plan import Spec
from deviate.records.layout import (
    attempt_folder,
    attempt_number,
    attempts,
    claim_file,
    event_files,
    log_files,
    result_file,
    spec_file,
)
from deviate.records.machine import ProcessRange, machine_name, this_machine, writer_name
from deviate.records.runs import (
    STALE_S,
    Claim,
    Result,
    damaged_files,
    read_claim,
    read_result,
    read_spec,
    spec_hash,
    write_claim,
    write_result,
)
from deviate.replay.outcomes import SETTLED
from deviate.replay.processes import birth, end_group, end_processes, is_alive, processes_of

# ---------------------------------------------------------------- executors on other machines
#
# Whether they are alive is seen from what they write while this process is watching.
#
# Clocks of machines differ, so the age of a heartbeat is not reliable: an executor is alive if its claim or the output
# of its run changes between two observations. The time in between is measured with the clock of this process.

CLOCKS_S = 900.0
"""Difference of the clocks of two machines that a single look tolerates."""
ABANDONED_S = 86_400.0
"""Age from which a file counts as abandoned without a second look: clocks do not differ by a day."""

Written = tuple[bytes, tuple[tuple[str, int], ...]]


HEARTBEATS: dict[Path, tuple[Written, float, bool]] = {}
"""Observations of attempts: the content, the time since which it is the same, and whether it ever changed."""


def is_here(claim: Claim | None) -> TypeGuard[Claim]:
    """Whether this process can look up the process numbers of a claim."""
    return claim is not None and ProcessRange(claim.host, claim.boot, claim.namespace) == this_machine()


def is_living(attempt: Path, claim: Claim | None, *, stale_s: float | None = None) -> bool | None:
    """Whether the executor of an unfinished attempt is alive; None if it is unknown yet and has to be checked again.

    Args:
        claim: None where it is missing or cannot be read.
        stale_s: after how many seconds without a change it is taken for dead, by default `STALE_S`.
    """
    if is_here(claim):
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


# ---------------------------------------------------------------- attempts

TEMPORARY = "deviate-"
"""Prefix of temporary folders of runs."""
LOOK_S = 0.25
"""Seconds between two looks at what another machine writes."""
LEFT_OVER_S = 3600.0
"""Age from which files that another machine was writing count as left over; clocks may differ."""
MAKING = ".attempt-"
"""Prefix of a folder that becomes an attempt when it is complete."""


def settled_attempt(run: Path, spec: Spec) -> tuple[Path, Result] | None:
    """The attempt that completes the run: the one whose files are intact; None if the run has to be (re)started."""
    for attempt in reversed(attempts(run)):
        try:
            result = read_result(attempt)
        except RecordError:  # damaged: what it says cannot be believed
            return None
        if result is not None and result.status in SETTLED and result.spec_hash == spec_hash(spec):
            return None if damaged_files(attempt, result) else (attempt, result)
    return None


OUT_OF_MEMORY = "OUT_OF_MEMORY"
"""What a scheduler says of a job that the system killed for lack of memory. Source: squeue(1), JOB STATE CODES."""


def end_orphans(
    runs: Iterable[Path],
    *,
    waits: bool = False,
    on_notice: Callable[[str], None] = lambda _: None,
    why: str = "its executor died: deviate or the machine stopped",
) -> None:
    """End processes left by dead executors, and mark their attempts as lost.

    Args:
        why: the reason in their records; a scheduler knows it.
        waits: look for as long as it takes to tell whether an executor of another machine lives; else it is taken to
            live until that is known.
        on_notice: told when there is something to wait for.

    Raises:
        InUseError: somebody else runs one of these runs now.
    """
    runs = list(runs)
    for attempt in refuse_living(runs, waits=waits, on_notice=on_notice):  # except attempts created since then
        if not result_file(attempt).exists():
            _end_orphan(attempt, why)
            _remove_left_over(attempt)
    for run in runs:
        _remove_left_over(run)


def refuse_living(
    runs: Iterable[Path], *, waits: bool = False, on_notice: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Unfinished attempts of these runs whose executor is dead, or is this process; arguments as in `end_orphans`.

    Raises:
        InUseError: somebody else runs one of these runs now.
    """
    unended = [attempt for run in runs for attempt in attempts(run)]
    is_told = False
    while True:
        unended = [attempt for attempt in unended if not result_file(attempt).exists()]
        claims = [(attempt, read_claim(attempt)) for attempt in unended]
        foreign = [(attempt, claim) for attempt, claim in claims if not is_here(claim) or claim.pid != os.getpid()]
        living = [(attempt, claim, is_living(attempt, claim)) for attempt, claim in foreign]
        for attempt, claim, lives in living:
            if lives or (lives is None and not waits):
                raise _in_use(attempt.parent, holder_text(claim))
        open_ones = [claim for _, claim, lives in living if lives is None]
        if not open_ones:
            return unended
        if not is_told:
            holder = holder_text(open_ones[0])
            on_notice(f"Checking for up to {STALE_S:.0f} s whether {holder} still runs this experiment.")
            is_told = True
        time.sleep(LOOK_S)


def claim_of(pid: int, now: float, *, continues: int | None = None) -> Claim:
    """The claim of a process on this machine."""
    machine = this_machine()
    return Claim(
        machine.host, pid, birth(pid), now, now, continues=continues, boot=machine.boot, namespace=machine.namespace
    )


def claim_attempt(run: Path, *, continues: int | None = None) -> tuple[Path, Claim]:
    """Create the next attempt with its claim.

    Raises:
        InUseError: somebody else was faster.
    """
    before = attempts(run)
    attempt = attempt_folder(run, 1 + (attempt_number(before[-1]) or 0 if before else 0))
    now = time.time()
    claim = claim_of(os.getpid(), now, continues=continues)
    making = _making(run)
    making.mkdir(parents=True)
    write_claim(making, claim)
    try:
        making.rename(attempt)  # fails where there is one: a folder with a claim is never empty
    except OSError as error:
        shutil.rmtree(making, ignore_errors=True)
        if attempt.exists():
            raise _in_use(run, holder_text(read_claim(attempt))) from error
        raise
    for earlier in attempts(run):
        if earlier != attempt and not result_file(earlier).exists():
            give_back(attempt)
            raise _in_use(run, holder_text(read_claim(earlier)))
    return attempt, claim


def give_back(attempt: Path) -> None:
    """Remove an attempt in which nothing was started. It is never visible without its claim.

    A result would become the latest of the run, and hide the one that completes it.
    """
    leftover = _making(attempt.parent)
    attempt.rename(leftover)
    shutil.rmtree(leftover, ignore_errors=True)


def temporary_prefix(attempt: Path) -> str:
    """Prefix of the name of an attempt's temporary folder, with a digest of the attempt's location.

    A claim can contain any path, and the project may come from a stranger, so only folders with this prefix are
    removed.
    """
    return f"{TEMPORARY}{hashlib.sha256(os.fsencode(attempt.absolute())).hexdigest()[:12]}-"


def temporary_of(attempt: Path, claim: Claim) -> Path | None:
    """The temporary folder of an attempt, if it exists on this machine, belongs to the user and was created for it."""
    path = Path(claim.temporary)
    if claim.host != this_machine().host or not path.is_absolute() or ".." in path.parts:
        return None
    if not path.name.startswith(temporary_prefix(attempt)) or path.is_symlink():
        return None
    try:
        facts = path.lstat()
    except (OSError, ValueError):
        return None
    return path if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() else None


def _end_orphan(attempt: Path, why: str) -> None:
    claim = read_claim(attempt)
    if claim is None or is_here(claim):
        if claim is not None and claim.process is not None and is_alive(claim.process, claim.process_birth):
            end_group(claim.process)
        end_processes(lambda: processes_of(attempt))
    temporary = None if claim is None else temporary_of(attempt, claim)
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)
    hashed = ""  # no finished run depends on a spec that was lost in a power cut
    with contextlib.suppress(RecordError):
        hashed = spec_hash(read_spec(spec_file(attempt.parent)))
    write_result(
        attempt,
        Result(
            hashed,
            "lost",
            None,
            None,
            claim.started if claim else 0.0,
            0.0,
            why,
            cause="memory" if OUT_OF_MEMORY in why else "node",
            device=claim.device if claim else "",
        ),
    )


def _making(run: Path) -> Path:
    return run / f"{MAKING}{time.time_ns()}.{writer_name()}"


def _remove_left_over(folder: Path) -> None:
    """Remove partially written files of dead writers, whose names are the suffix."""
    for leftover in folder.glob(".*"):
        writer, _, pid = leftover.name.rpartition("-")
        is_mine = writer.endswith(f".{machine_name()}") and pid.isdecimal()
        if birth(int(pid)) if is_mine else time.time() - leftover.lstat().st_mtime < LEFT_OVER_S:
            continue
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def holder_text(claim: Claim | None) -> str:
    """The holder of a claim in words: its process, and its machine if it is another one."""
    if claim is None:
        return "another process"
    if is_here(claim):
        return f"process {claim.pid}"
    is_namesake = claim.host == this_machine().host
    return f"process {claim.pid} on {'another machine or container called ' * is_namesake}{claim.host}"


def _in_use(run: Path, by: str) -> InUseError:
    experiment = run.parent.parent
    return InUseError(
        f"the experiment in {experiment} is being run by {by}",
        "wait until it has ended, or stop it, then resume",
    )
