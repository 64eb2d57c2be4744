"""Slots: how many runs one machine executes at a time, and which devices each of them uses."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.errors import InputError
from deviate.model import Settings

DEVICE_ID = re.compile(r"(GPU|MIG)-")
"""The beginning of a UUID. Source: CUDA C++ Programming Guide, CUDA environment variables."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one run.

    Attributes:
        device: its devices for people, such as "GPU 0"; empty where runs are given none.
        variables: what the run's environment gets, so that it sees no other device.
    """

    device: str = ""
    variables: tuple[tuple[str, str], ...] = ()


def slots(settings: Settings) -> tuple[Slot, ...]:
    """The slots of this machine, at most `jobs`; they alternate between devices, so that few runs use all devices.

    Raises:
        InputError: one run is to have more GPUs than there are.
    """
    if settings.gpus is None:
        return (Slot(),) * max(1, settings.jobs)
    size = settings.gpus_per_run
    groups = [settings.gpus[at : at + size] for at in range(0, len(settings.gpus) - size + 1, size)]
    if len(groups) * size != len(settings.gpus) or not groups:
        raise InputError(
            f"{len(settings.gpus)} GPUs cannot be divided into groups of {size}",
            "change --gpus, or the number per run with --gpus-per-run",
        )
    return tuple(_slot(group) for _ in range(settings.per_gpu) for group in groups)[: max(1, settings.jobs)]


def _slot(gpus: Sequence[str]) -> Slot:
    """A slot in which only these GPUs are visible.

    Source: CUDA C++ Programming Guide, CUDA environment variables; ROCm documentation, GPU isolation techniques:
    HIP_VISIBLE_DEVICES alone, for numbers would be counted within ROCR_VISIBLE_DEVICES.
    """
    seen = ",".join(gpus)
    if _n_tpu() and not _n_nvidia():
        return _chip(gpus)
    if _is_rocm():
        return Slot(f"GPU {seen}", (("HIP_VISIBLE_DEVICES", seen),))
    return Slot(f"GPU {seen}", (("CUDA_VISIBLE_DEVICES", seen), ("CUDA_DEVICE_ORDER", "PCI_BUS_ID")))


def _chip(chips: Sequence[str]) -> Slot:
    """A slot with one TPU chip, which serves one process at a time.

    Source: the variables of libtpu as torch_xla sets them, torch_xla/_internal/tpu.py, configure_topology; older ones
    read TPU_VISIBLE_DEVICES. Untested: no TPU was at hand.

    Raises:
        InputError: a run is to have several chips: how they are wired is not known here.
    """
    if len(chips) > 1:
        raise InputError(
            f"a run cannot have {len(chips)} TPU chips", "give each run one, or remove --gpus and use -j 1"
        )
    one = "1,1,1"
    variables = {"TPU_CHIPS_PER_PROCESS_BOUNDS": one, "TPU_PROCESS_BOUNDS": one}
    variables |= {"TPU_VISIBLE_CHIPS": chips[0], "TPU_VISIBLE_DEVICES": chips[0]}
    return Slot(f"TPU {chips[0]}", tuple(variables.items()))


def find_gpus(base: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Numbers of the GPUs, or else TPU chips, that are visible to a process of this user; empty if there are none."""
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        if name in base:
            visible = [device.strip() for device in base[name].split(",")]
            end = next((at for at, device in enumerate(visible) if device in {"", "-1"}), len(visible))
            return tuple(visible[:end])  # CUDA ignores everything after an invalid number
    if shutil.which("nvidia-smi"):
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
        lines = [line for line in listed.stdout.splitlines() if line.startswith("GPU ")]
        if listed.returncode == 0 and lines:
            return tuple(map(str, range(len(lines))))
    return tuple(map(str, range(_n_nvidia() or _n_rocm() or _n_tpu())))


def choose_gpus(text: str | None, *, are_here: bool = True) -> tuple[str, ...] | None:
    """Parse `--gpus`: `auto`, `none`, or a comma-separated list of devices. Returns None if runs get no devices.

    Args:
        are_here: whether the runs use the devices of this machine, so that they can be checked.

    Raises:
        InputError: devices are wanted, and there are none or one is named twice.
    """
    if text is None or text == "none":
        return None
    if text == "auto":
        devices = find_gpus()
        if not devices:
            raise InputError("--gpus auto found no GPU", "remove --gpus, or name devices: --gpus 0,1")
        return devices
    wanted = tuple(device.strip() for device in text.split(","))
    if not all(wanted) or len(set(wanted)) < len(wanted):
        raise InputError(f"--gpus {text} must name each device once", "write numbers with commas: --gpus 0,1")
    if are_here:
        _refuse_absent(text, wanted)
    return wanted


def _refuse_absent(text: str, wanted: Sequence[str]) -> None:
    """Raise InputError for a device that is not on this machine; GPUs named by UUID are left to the driver."""
    numbers = [device for device in wanted if not DEVICE_ID.match(device)]
    present = find_gpus() if numbers else ()
    if not all(device.isdecimal() for device in present):  # the user's shell names them by UUID
        return
    absent = next((device for device in numbers if device not in present), None)
    if absent is not None:
        there = f"there are: {', '.join(present)}" if present else "no GPU was found"
        raise InputError(
            f"--gpus {text}: there is no GPU {absent} here; {there}",
            "leave --gpus away, or set CUDA_VISIBLE_DEVICES to devices that deviate does not find",
        )


def default_jobs() -> int:
    """Number of concurrent runs: one with a GPU, else one per two available cores."""
    if any(Path(device).exists() for device in ("/dev/nvidiactl", "/dev/kfd")):
        return 1
    return max(1, n_cores() // 2)


def threads_per_run(jobs: int) -> int | None:
    """Threads for each of several runs on one machine, so that they do not compete; None for no limit."""
    return max(1, n_cores() // jobs) if jobs > 1 else None


def n_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_rocm() -> bool:
    return Path("/dev/kfd").exists() and not Path("/dev/nvidiactl").exists()


def _n_nvidia() -> int:
    return len([path for path in Path("/dev").glob("nvidia[0-9]*") if path.name[6:].isdecimal()])


def _n_tpu() -> int:
    """Number of TPU chips. Source: torch_xla/_internal/tpu.py, num_available_chips: TPUs are /dev/accel*."""
    return len([path for path in Path("/dev").glob("accel[0-9]*") if path.name[5:].isdecimal()])


def _n_rocm() -> int:
    """Number of AMD GPUs. Source: the kernel's documentation of amdkfd: nodes with SIMD units are GPUs, others CPUs."""
    nodes = Path("/sys/class/kfd/kfd/topology/nodes")
    read = [path.read_text() for path in nodes.glob("*/properties")] if nodes.is_dir() else []
    return sum("simd_count 0\n" not in text for text in read)
