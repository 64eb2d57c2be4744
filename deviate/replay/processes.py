"""Processes of runs: whether one is alive, and ending all processes of an attempt."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

GRACE_S = 10.0
"""Seconds that a run has to end after it was asked to."""
POLL_S = 0.02

PROC = Path("/proc")


def birth(pid: int) -> str:
    """Start time of a process, which distinguishes it from a later one with the same number. Empty if there is none.

    Source: proc(5), field 22 of /proc/<pid>/stat, after the command name, which may hold anything.
    """
    if PROC.is_dir():
        try:
            fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return ""
        return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
    query = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return query.stdout.strip()


def is_alive(pid: int, born: str) -> bool:
    """Whether the process with this start time still exists."""
    return bool(born) and birth(pid) == born


def processes_of(attempt: Path) -> list[int]:
    """Visible processes of an attempt, found by an inherited variable. Linux only, else empty."""
    marker = b"\0DEVIATE_RUN_DIR=" + os.fsencode(attempt.absolute()) + b"\0"
    numbers: list[int] = []
    for name in os.listdir(PROC) if PROC.is_dir() else ():  # noqa: PTH208  (asked often: Path takes ten times as long)
        if name.isdecimal():
            with contextlib.suppress(OSError):  # it has ended, or belongs to another user
                file = os.open(f"{PROC}/{name}/environ", os.O_RDONLY)
                try:
                    if marker in b"\0" + _whole(file):
                        numbers.append(int(name))
                finally:
                    os.close(file)
    return numbers


def _whole(file: int) -> bytes:
    pieces = []
    while piece := os.read(file, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def signal_group(leader: int, number: int) -> bool:
    """Send a signal to a process group; returns False if it no longer exists."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        return False
    return True


def end_group(leader: int, *, grace_s: float = GRACE_S) -> None:
    """Ask a process group to terminate, then kill it."""
    if signal_group(leader, signal.SIGTERM) and not _wait(lambda: not _group_lives(leader), grace_s):
        signal_group(leader, signal.SIGKILL)


def end_processes(pids: Callable[[], Iterable[int]], *, grace_s: float = GRACE_S) -> None:
    """Ask processes to terminate, then kill them. They are looked up again, as they may start others."""
    for number, patience in ((signal.SIGTERM, grace_s), (signal.SIGKILL, grace_s)):
        remaining = list(pids())
        for pid in remaining:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        if not remaining:
            return
        if _wait(lambda: not any(birth(pid) for pid in pids()), patience):
            return


def _group_lives(leader: int) -> bool:
    """Whether a member of a process group is running; zombies are not counted."""
    if not signal_group(leader, 0):
        return False
    if not PROC.is_dir():
        return True
    for stat in PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            fields = stat.read_bytes().rpartition(b")")[2].split()
            if int(fields[2]) == leader and fields[0] not in (b"Z", b"X"):
                return True
    return False


def oldest_python_s(leader: int) -> float:
    """Age of the oldest Python interpreter in a process group, in seconds; 0 when none can be seen. Linux only."""
    ages = [0.0]
    for folder in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[2]) == leader and (folder / "exe").readlink().name.startswith("python"):
                uptime = float((PROC / "uptime").read_text().split()[0])
                ages.append(uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK"))
    return max(ages)


def _wait(is_over: Callable[[], bool], patience_s: float) -> bool:
    until = time.monotonic() + patience_s
    while not is_over():
        if time.monotonic() > until:
            return False
        time.sleep(POLL_S)
    return True
