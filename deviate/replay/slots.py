"""Slots: how many runs one machine executes at a time, and which devices each of them uses."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from deviate.errors import InputError
from deviate.model.plan import Settings
from deviate.replay.gpus import CUDA, MIG, UUID, find_gpus, has_devices, show_only, why_none


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
        InputError: one run is to have more GPUs than there are, or devices that no process can use together.
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
    shown = [show_only(group) for group in groups] * settings.per_gpu
    return tuple(Slot(device, tuple(variables.items())) for device, variables in shown[: max(1, settings.jobs)])


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
            why = why_none()
            raise InputError(
                f"--gpus auto found no GPU{f': {why}' if why else ''}",
                "remove --gpus, or name devices: --gpus 0,1 (Intel: in ZE_AFFINITY_MASK); see deviate doctor",
            )
        return devices
    wanted = tuple(device.strip() for device in text.split(","))
    if not all(wanted) or len(set(wanted)) < len(wanted):
        raise InputError(f"--gpus {text} must name each device once", "write numbers with commas: --gpus 0,1")
    if are_here:
        _refuse_absent(text, wanted)
    return wanted


def _refuse_absent(text: str, wanted: Sequence[str]) -> None:
    """Raise InputError for a device that is not on this machine; GPUs named by UUID are left to the driver."""
    numbers = [device for device in wanted if not device.startswith(UUID)]
    present = find_gpus() if numbers else ()
    if not all(device.isdecimal() for device in present):
        instances = [device for device in present if device.startswith(MIG)]
        if instances and CUDA not in os.environ:
            raise InputError(
                f"--gpus {text}: GPUs here are divided into MIG instances, which have no numbers",
                f"--gpus auto uses all devices; or name some: --gpus {instances[0]}",
            )
        return  # the user's shell names them by UUID, or by tile
    absent = next((device for device in numbers if device not in present), None)
    if absent is not None:
        why = why_none()
        there = f"there are: {', '.join(present)}" if present else f"no GPU was found{f' ({why})' if why else ''}"
        raise InputError(
            f"--gpus {text}: there is no GPU {absent} here; {there}",
            "leave --gpus away, or set CUDA_VISIBLE_DEVICES to devices that deviate does not find",
        )


def default_jobs() -> int:
    """Number of concurrent runs: one with a GPU or TPU, else one per two available cores."""
    return 1 if has_devices() else max(1, n_cores() // 2)


def threads_per_run(jobs: int) -> int | None:
    """Threads for each of several runs on one machine, so that they do not compete; None for no limit."""
    return max(1, n_cores() // jobs) if jobs > 1 else None


def n_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
