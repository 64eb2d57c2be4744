"""Slots: how many runs one machine takes at a time, and which devices each of them sees."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.errors import InputError
from deviate.model import Settings


@dataclass(frozen=True, slots=True)
class Slot:
    """Room for one run.

    Attributes:
        device: its devices for people, such as "GPU 0"; empty where runs are given none.
        variables: what the run's environment gets, so that it sees no other device.
    """

    device: str = ""
    variables: tuple[tuple[str, str], ...] = ()


def slots(settings: Settings) -> tuple[Slot, ...]:
    """The slots of this machine, devices in turn, so that few runs spread over all of them.

    Raises:
        InputError: one run is to have more GPUs than there are.
    """
    if settings.gpus is None:
        return (Slot(),) * max(1, settings.jobs)
    size = settings.gpus_per_run
    groups = [settings.gpus[at : at + size] for at in range(0, len(settings.gpus) - size + 1, size)]
    if not groups:
        raise InputError(
            f"one run is to have {size} GPUs, and there are {len(settings.gpus)}",
            "give more with --gpus, or fewer to each run with --gpus-per-run",
        )
    return tuple(_slot(group) for _ in range(settings.per_gpu) for group in groups)


def _slot(gpus: Sequence[str]) -> Slot:
    """A slot that sees these GPUs alone.

    Source: CUDA C++ Programming Guide, CUDA environment variables; ROCm documentation, GPU isolation techniques:
    HIP_VISIBLE_DEVICES alone, for numbers would be counted within ROCR_VISIBLE_DEVICES.
    """
    seen = ",".join(gpus)
    names = ("HIP_VISIBLE_DEVICES",) if _is_rocm() else ("CUDA_VISIBLE_DEVICES",)
    variables = {**dict.fromkeys(names, seen), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    return Slot(f"GPU {seen}", tuple(variables.items()))


def find_gpus(base: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The GPUs that a process of this user would see, as CUDA or ROCm call them; empty when there are none."""
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        if name in base:
            visible = [device.strip() for device in base[name].split(",")]
            end = next((at for at, device in enumerate(visible) if device in {"", "-1"}), len(visible))
            return tuple(visible[:end])  # CUDA ignores what follows a number that is none
    if shutil.which("nvidia-smi"):
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
        found = [line for line in listed.stdout.splitlines() if line.startswith("GPU ")]
        if listed.returncode == 0 and found:
            return tuple(map(str, range(len(found))))
    n_nvidia = len([path for path in Path("/dev").glob("nvidia[0-9]*") if path.name[6:].isdecimal()])
    return tuple(map(str, range(n_nvidia or _n_rocm())))


def choose_gpus(text: str | None) -> tuple[str, ...] | None:
    """What `--gpus` means: `auto`, `none`, or devices with commas. None: runs are given no devices.

    Raises:
        InputError: devices are wanted, and there are none or one is named twice.
    """
    if text is None or text == "none":
        return None
    if text == "auto":
        found = find_gpus()
        if not found:
            raise InputError("--gpus auto found no GPU", "leave --gpus away, or name devices: --gpus 0,1")
        return found
    named = tuple(device.strip() for device in text.split(","))
    if not all(named) or len(set(named)) < len(named):
        raise InputError(f"--gpus {text} does not name each device once", "write numbers with commas: --gpus 0,1")
    return named


def default_jobs() -> int:
    """Runs at a time: one where there is a GPU, else one per two cores that this process may use."""
    if any(Path(device).exists() for device in ("/dev/nvidiactl", "/dev/kfd")):
        return 1
    return max(1, n_cores() // 2)


def threads_per_run(jobs: int) -> int | None:
    """Threads for each of several runs on one machine, so that they do not starve each other; None: no limit."""
    return max(1, n_cores() // jobs) if jobs > 1 else None


def n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_rocm() -> bool:
    return Path("/dev/kfd").exists() and not Path("/dev/nvidiactl").exists()


def _n_rocm() -> int:
    """Source: the kernel's documentation of amdkfd: nodes with SIMD units are GPUs, the others CPUs."""
    nodes = Path("/sys/class/kfd/kfd/topology/nodes")
    read = [path.read_text() for path in nodes.glob("*/properties")] if nodes.is_dir() else []
    return sum("simd_count 0\n" not in text for text in read)
