"""The machine that runs: disk space and processes killed for lack of memory meanwhile, and facts about its hardware."""

import contextlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from deviate.errors import RecordError, writing
from deviate.model.diagnosis import Machine
from deviate.model.texts import ranges
from deviate.replay.gpus import ROOT, amd_gpus, mig_profiles, n_tpu, nvidia_smi, read_fact

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
    groups = _own_groups("")[0] / "memory.events", _own_groups("memory")[0] / "memory.oom_control"
    for path in (*groups, Path("/proc/vmstat")):
        count += sum(int(line.split()[1]) for line in read_fact(path).splitlines() if line.startswith("oom_kill "))
    return count


def _own_groups(controller: str, root: Path = ROOT) -> list[Path]:
    """Folders of this process's control group and of those around it, each of which may set a limit; its own first.

    Args:
        controller: that of version 1, such as "cpu"; empty for version 2.

    Source: cgroups(7), /proc/[pid]/cgroup.
    """
    top = root / "sys/fs/cgroup" / controller
    for line in read_fact(root / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(","):
            group_folder = top / group.strip("/")
            return [group_folder, *(folder for folder in group_folder.parents if folder.is_relative_to(top))]
    return [top]


# ---------------------------------------------------------------- facts
#
# Those of the machine that starts runs: processor, limits, system, GPUs and their driver.

NO_LIMIT = 1 << 60
"""Limits from here on mean no limit: control groups of version 1 have a number near 2**63."""


def machine_facts(root: Path = ROOT) -> dict[str, str]:
    """Facts to show and to compare; facts that the system does not provide are left out. Sizes in MiB."""
    facts = {
        "CPU": f"{_processor(root)[0] or 'unnamed'} ({platform.machine()})",
        "cores": str(len(_affinity()) or os.cpu_count() or ""),
        "cores of the machine": str(os.cpu_count() or ""),
        "affinity": ",".join(ranges(_affinity())).replace("–", "-"),  # as in taskset
        "memory MiB": _memory(root),
        **_limits(root),
        "system": _system(),
        "kernel": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()).strip(),
        **_gpus(root),
    }
    return {name: value for name, value in facts.items() if value}


def _processor(root: Path) -> tuple[str, str]:
    """Name and instruction sets of the first processor, which differ between systems; empty where it has none."""
    text = read_fact(root / "proc/cpuinfo")
    names, flags = (
        re.search(rf"^(?:{key})\s*:\s*(.+)$", text, re.MULTILINE)
        for key in ("model name|Model|cpu model", "flags|[Ff]eatures")
    )
    name = names[1].strip() if names else platform.processor()
    if not text and shutil.which("sysctl"):
        query = ["sysctl", "-n", "machdep.cpu.brand_string"]
        name = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip() or name
    return name, flags[1] if flags else ""


def _affinity() -> list[int]:
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _memory(root: Path) -> str:
    match = re.search(r"^MemTotal:\s*(\d+) kB", read_fact(root / "proc/meminfo"), re.MULTILINE)
    if match:
        return str(int(match[1]) >> 10)
    with contextlib.suppress(ValueError, OSError, AttributeError):
        return str(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20)
    return ""


def _limits(root: Path) -> dict[str, str]:
    """What the control groups grant."""
    quota = _cpu_quota(root)
    texts = [read_fact(group / "memory.max").strip() for group in _own_groups("", root)]
    texts += [read_fact(group / "memory.limit_in_bytes").strip() for group in _own_groups("memory", root)]
    memory = min((int(text) for text in texts if text.isdecimal()), default=NO_LIMIT)
    return {
        "cores of the control group": "" if quota is None else f"{quota:g}",
        "memory MiB of the control group": str(memory >> 20) if memory < NO_LIMIT else "",
    }


def _cpu_quota(root: Path) -> float | None:
    """Processor time that the control groups grant, in CPUs; None for no limit.

    Source: Linux kernel, Control Group v2, cpu.max; cgroup-v1, sched-bwc.
    """
    shares = [read_fact(group / "cpu.max").split() for group in _own_groups("", root)]
    shares += [
        [read_fact(group / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        for group in _own_groups("cpu", root)
    ]
    limits = [int(share[0]) / int(share[1]) for share in shares if len(share) == 2 and share[0].isdecimal()]
    return min(limits, default=None)


def _system() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return " ".join(("macOS", platform.mac_ver()[0])) if platform.mac_ver()[0] else platform.system()


def _gpus(root: Path) -> dict[str, str]:
    """Names of GPUs, and their driver.

    MIG instances are told by their profiles: a part of a GPU computes with kernels of its own.

    Source: nvidia-smi(1): the query, and the head of its table, which alone tells the driver's version of CUDA.
    """
    rows, _ = _nvidia_gpus(root)
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


def _nvidia_gpus(root: Path) -> tuple[list[list[str]], str]:
    """Name, driver and memory of each GPU, and all that the driver answers."""
    answer = nvidia_smi("--query-gpu=name,driver_version,memory.total", "--format=csv,noheader", root=root).strip()
    rows = [[cell.strip() for cell in line.split(",")] for line in answer.splitlines()]
    return [row for row in rows if len(row) == 3 and row[1][:1].isdecimal()], answer


def _amd_gpus(root: Path) -> dict[str, str]:
    names = amd_gpus(root)
    if not names:
        return {}
    return {
        "GPU": ", ".join(sorted(set(names))),
        "GPUs": "; ".join(f"{number}: {name}" for number, name in enumerate(names)),
        "AMD driver": read_fact(root / "sys/module/amdgpu/version").strip(),
    }


# ---------------------------------------------------------------- diagnosis

INSTRUCTIONS = ("sse4_2", "avx", "avx2", "avx512f", "avx512_bf16", "amx_tile", "asimd", "sve")


def examine_machine(root: Path = ROOT) -> Machine:
    """What `deviate doctor` says of the machine."""
    name, flags = _processor(root)
    return Machine(
        system=f"{platform.system()} {platform.machine()}",
        processor=name or platform.machine(),
        instructions=tuple(instruction for instruction in INSTRUCTIONS if instruction in flags.split()),
        n_cpus=os.cpu_count(),
        n_cpus_allowed=len(_affinity()) or None,
        quota=_cpu_quota(root),
        accelerators=tuple(_accelerators(root)),
        container=_container(),
    )


def _container() -> str:
    if os.environ.get("APPTAINER_CONTAINER") or os.environ.get("SINGULARITY_CONTAINER"):
        return "Apptainer"
    if Path("/.dockerenv").exists():
        return "Docker"
    if Path("/run/.containerenv").exists():
        return "Podman"
    return "Kubernetes" if os.environ.get("KUBERNETES_SERVICE_HOST") else ""


def _accelerators(root: Path) -> Iterator[str]:
    """Devices known to the system, with their drivers; where a driver is loaded and lists none, what it answers."""
    rows, answer = _nvidia_gpus(root)
    yield from (f"{name} (driver {driver})" for name, driver, _ in rows)
    if n_instances := nvidia_smi("-L", root=root).count("(UUID: MIG-") if rows else 0:
        yield f"{n_instances} MIG instances"
    if not rows and (root / "proc/driver/nvidia/version").exists():
        reason = f" ({answer.splitlines()[0]})" if answer else ""
        yield f"NVIDIA driver, but nvidia-smi lists no device{reason}"
    if (root / "dev/kfd").exists():
        yield f"AMD GPU (driver {read_fact(root / 'sys/module/amdgpu/version').strip() or 'of unknown version'})"
    if n_chips := n_tpu(root):
        yield f"TPU, {n_chips} chips"
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        yield "Apple GPU"
