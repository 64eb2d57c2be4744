"""The machine that runs: disk space and processes killed for lack of memory meanwhile, and facts about its hardware."""

import contextlib
import functools
import os
import platform
import re
import shutil
from pathlib import Path

from deviate.errors import RecordError, writing
from deviate.replay.gpus import ROOT, amd_gpus, mig_profiles, nvidia_smi

LEAST_FREE_BYTES = 100_000_000
LEAST_FREE_SHARE = 0.01
"""A disk with less free space than the smaller of the two counts as full, while records can still be written."""


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
    with writing(f"writing to {folder}", "run again: the folder was removed or unmounted during the runs"):
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


# ---------------------------------------------------------------- facts
#
# Those of the machine that starts runs: processor, limits, system, GPUs and their driver.

NO_LIMIT = 1 << 60
"""Limits from here on mean no limit: control groups of version 1 have a number near 2**63."""


def machine_facts(root: Path = ROOT) -> dict[str, str]:
    """Facts to show and to compare; facts that the system does not provide are left out. Sizes in MiB."""
    facts = {
        "CPU": _cpu(root),
        "cores": str(len(_affinity()) or os.cpu_count() or ""),
        "cores of the machine": str(os.cpu_count() or ""),
        "affinity": _ranges(_affinity()),
        "memory MiB": _memory(root),
        **_limits(root),
        "system": _system(),
        "kernel": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()).strip(),
        **_gpus(root),
    }
    return {name: value for name, value in facts.items() if value}


def _cpu(root: Path) -> str:
    text = _read(root / "proc/cpuinfo")
    match = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    name = match[1].strip() if match else platform.processor()
    return f"{name or 'unnamed'} ({platform.machine()})"


def _affinity() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _ranges(numbers: list[int]) -> str:
    """CPU ranges, `0-3,8`, in the notation of taskset and similar tools."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def _memory(root: Path) -> str:
    match = re.search(r"^MemTotal:\s*(\d+) kB", _read(root / "proc/meminfo"), re.MULTILINE)
    if match:
        return str(int(match[1]) >> 10)
    with contextlib.suppress(ValueError, OSError, AttributeError):
        return str(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20)
    return ""


def _limits(root: Path) -> dict[str, str]:
    """What the control group grants. Source: cgroups(7); Linux kernel, Control Group v2, cpu.max and memory.max."""
    match = re.search(r"^0::(/.*)$", _read(root / "proc/self/cgroup"), re.MULTILINE)
    folder = root / "sys/fs/cgroup"
    places = [folder / match[1].lstrip("/"), folder] if match else [folder]
    facts: dict[str, str] = {}
    for place in places:
        quota, _, period = _read(place / "cpu.max").strip().partition(" ")
        if quota.isdecimal() and period.isdecimal():
            facts.setdefault("cores of the control group", f"{int(quota) / int(period):g}")
        memory = _read(place / "memory.max").strip()
        if memory.isdecimal():
            facts.setdefault("memory MiB of the control group", str(int(memory) >> 20))
    quota, period = (_read(folder / "cpu" / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
    if quota.isdecimal() and period.isdecimal():
        facts.setdefault("cores of the control group", f"{int(quota) / int(period):g}")
    memory = _read(folder / "memory/memory.limit_in_bytes").strip()
    if memory.isdecimal() and int(memory) < NO_LIMIT:
        facts.setdefault("memory MiB of the control group", str(int(memory) >> 20))
    return facts


def _system() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return " ".join(("macOS", platform.mac_ver()[0])) if platform.mac_ver()[0] else platform.system()


def _gpus(root: Path) -> dict[str, str]:
    """Names of GPUs, and their driver.

    MIG instances are told by their profiles: a part of a GPU computes with kernels of its own.

    Source: nvidia-smi(1): the query, and the head of its table, which alone tells the driver's version of CUDA.
    """
    listed = nvidia_smi("--query-gpu=name,driver_version,memory.total", "--format=csv,noheader", root=root).strip()
    rows = [[cell.strip() for cell in line.split(",")] for line in listed.splitlines()]
    rows = [row for row in rows if len(row) == 3 and row[1][:1].isdecimal()]
    if not rows:
        return _amd_gpus(root)
    table = nvidia_smi(root=root)
    cuda = re.search(r"CUDA(?: UMD)? Version\s*:\s*([\d.]+)", table)
    profiles = mig_profiles(root) if "MIG devices" in table else ()
    instances = [f"MIG {', '.join(profiles)}"] if profiles else []
    sizes = [memory if memory[:1].isdecimal() else "" for _, _, memory in rows]  # [N/A] if the memory is the CPU's
    return {
        "GPU": ", ".join([*sorted({name for name, _, _ in rows}), *instances]),
        "GPUs": "; ".join(
            ", ".join(filter(None, (f"{number}: {name}", size)))
            for number, ((name, _, _), size) in enumerate(zip(rows, sizes, strict=True))
        ),
        "NVIDIA driver": ", ".join(sorted({driver for _, driver, _ in rows})),
        "CUDA of the driver": cuda[1] if cuda else "",
    }


def _amd_gpus(root: Path) -> dict[str, str]:
    names = amd_gpus(root)
    if not names:
        return {}
    return {
        "GPU": ", ".join(sorted(set(names))),
        "GPUs": "; ".join(f"{number}: {name}" for number, name in enumerate(names)),
        "AMD driver": _read(root / "sys/module/amdgpu/version").strip(),
    }


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
