"""What the machine says while runs go on: room on the disk, and whether its system killed for want of memory."""

import contextlib
import functools
import shutil
from pathlib import Path

from deviate.errors import RecordError

LEAST_FREE_BYTES = 100_000_000
LEAST_FREE_SHARE = 0.01
"""A disk with less free than the smaller of the two is as good as full: stop while records can still be written."""


def is_disk_full(folder: Path) -> bool:
    """Whether the disk of a folder is nearly full."""
    usage = shutil.disk_usage(folder)
    return usage.free < _least(usage.total)


def _least(total: int) -> float:
    return min(LEAST_FREE_BYTES, LEAST_FREE_SHARE * total)


def refuse_full_disk(folder: Path) -> None:
    """Raise RecordError when the disk of a folder is nearly full."""
    usage = shutil.disk_usage(folder)
    least = _least(usage.total)
    if usage.free < least:
        raise RecordError(
            f"the disk of {folder} is nearly full: {usage.free / 1e6:.0f} MB left, {least / 1e6:.0f} MB needed",
            "make room (deviate clean removes work copies), then resume; nothing is lost",
        )


def n_killed_for_memory() -> int:
    """How many processes of our control group, or of the whole machine, the kernel has killed for want of memory.

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
    """The files in which our control groups, old and new, count."""
    groups, found = Path("/sys/fs/cgroup"), []
    with contextlib.suppress(OSError):
        for entry in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, own = entry.split(":", 2)
            if not controllers:
                found.append(groups / own.lstrip("/") / "memory.events")
            elif "memory" in controllers.split(","):
                found.append(groups / "memory" / own.lstrip("/") / "memory.oom_control")
    return tuple(found)
