"""State of the machine during runs: disk space, and processes killed for lack of memory."""

import contextlib
import functools
import shutil
from pathlib import Path

from deviate.errors import RecordError
from deviate.records import writing

LEAST_FREE_BYTES = 100_000_000
LEAST_FREE_SHARE = 0.01
"""A disk with less free than the smaller of the two is as good as full: stop while records can still be written."""


def is_disk_full(folder: Path) -> bool:
    """Whether the disk of a folder is nearly full. Raises RecordError when the folder is gone."""
    free, least = _room(folder)
    return free < least


def refuse_full_disk(folder: Path) -> None:
    """Raise RecordError when the disk of a folder is nearly full, or the folder is gone."""
    free, least = _room(folder)
    if free < least:
        raise RecordError(
            f"the disk of {folder} is nearly full: {free / 1e6:.0f} MB left, {least / 1e6:.0f} MB needed",
            "make room (deviate clean removes work copies), then resume; nothing is lost",
        )


def _room(folder: Path) -> tuple[int, float]:
    """Free bytes on the disk of a folder, and the minimum that is required."""
    with writing(f"writing to {folder}", "it was removed or unmounted while runs went on: run again"):
        usage = shutil.disk_usage(folder)
    return usage.free, min(LEAST_FREE_BYTES, LEAST_FREE_SHARE * usage.total)


def n_killed_for_memory() -> int:
    """Number of processes of this control group, or of the whole machine, that the kernel killed for lack of memory.

    Source: Linux, Documentation/admin-guide/cgroup-v2.rst, memory.events, and cgroup-v1/memory.rst,
    memory.oom_control; proc(5), /proc/vmstat.
    """
    count = 0
    for path in (*_own_groups(), Path("/proc/vmstat")):
        with contextlib.suppress(OSError):
            count += sum(int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith("oom_kill "))
    return count


@functools.cache
def _own_groups() -> tuple[Path, ...]:
    """The files with the counters of this process's control groups, in versions 1 and 2."""
    groups, limits = Path("/sys/fs/cgroup"), []
    with contextlib.suppress(OSError):
        for entry in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, group = entry.split(":", 2)
            if not controllers:
                limits.append(groups / group.lstrip("/") / "memory.events")
            elif "memory" in controllers.split(","):
                limits.append(groups / "memory" / group.lstrip("/") / "memory.oom_control")
    return tuple(limits)
