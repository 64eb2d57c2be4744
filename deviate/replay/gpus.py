"""GPUs and TPU chips: which ones this machine has, and the variables that show a process only some of them."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from deviate.errors import InputError
from deviate.model.analysis import Analysis

Kind = Literal["cuda", "rocm", "xpu", "tpu"]

ROOT = Path("/")
CUDA, CUDA_ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"
HIP, ROCR = "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"
LEVEL_ZERO = "ZE_AFFINITY_MASK"
NAMING: dict[Kind, tuple[str, ...]] = {
    "cuda": (CUDA,),
    "rocm": (HIP, ROCR, CUDA),
    "xpu": (LEVEL_ZERO,),
    "tpu": ("TPU_VISIBLE_CHIPS", "TPU_VISIBLE_DEVICES"),
}
"""Variables with which a user limits the devices of a process; the first one that is set counts.

Source: CUDA C++ Programming Guide, CUDA environment variables; ROCm documentation, GPU isolation techniques; Level Zero
specification, environment variables; torch_xla/_internal/tpu.py. HIP reads CUDA_VISIBLE_DEVICES too."""
DEVICE = re.compile(r"\d+(?:\.\d+)*|(?:GPU|MIG)-.+")
"""A number, a tile of an Intel GPU, or a UUID."""
MIG = "MIG-"
UUID = ("GPU-", MIG)
"""Beginnings of UUIDs. Source: CUDA C++ Programming Guide, CUDA environment variables; NVIDIA Multi-Instance GPU User
Guide, device names."""

LISTED_GPU = re.compile(r"GPU (\d+): .*\(UUID: ([^)]*)\)")
LISTED_MIG = re.compile(r"\s+MIG (\S+)\s+Device\s+\d+: \(UUID: (MIG-[^)]+)\)")
"""Lines of `nvidia-smi -L`: instances stand below their GPU. Source: nvidia-smi(1)."""
SMI_S = 30.0
SMI_OF_WSL = "usr/lib/wsl/lib/nvidia-smi"
"""The program of the driver in the Windows Subsystem for Linux, where PATH may lack its folder and /dev has no GPU."""
TPU_VENDOR = "0x1ae0"
TPU_DEVICES = frozenset(("0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076"))
"""PCI numbers of TPU chips; other hardware of the vendor has others. Source: jax/_src/hardware_utils.py."""


def find_gpus(base: Mapping[str, str] = os.environ, root: Path = ROOT) -> tuple[str, ...]:
    """The devices that a process of this user can see, each named as `show_only` expects it; empty if there are none.

    A GPU that is divided into MIG instances is not among them, its instances are.
    """
    kind = kind_of_devices(base, root)
    variable = _limiting_variable(kind, base)
    if variable is not None:
        named = _usable(base[variable])
        # Numbers of HIP count within the devices that ROCR_VISIBLE_DEVICES leaves.
        return _numbers(len(named)) if variable == ROCR else named
    if kind == "cuda":
        return _numbers(n_nvidia(root)) if _smi(root) is None else _listed(nvidia_smi("-L", root=root))
    return {"rocm": _numbers(len(amd_gpus(root))), "tpu": _numbers(n_tpu(root))}.get(kind, ())


def show_only(
    devices: Sequence[str], base: Mapping[str, str] = os.environ, root: Path = ROOT
) -> tuple[str, dict[str, str]]:
    """Name the devices for people, and give the variables with which a process sees no other devices.

    Source: as for NAMING. nvidia-smi counts in the order of the PCI bus, CUDA by default does not; numbers that the
    user's own variable lists are in the user's order.

    Raises:
        InputError: a run is to have several MIG instances, or several TPU chips.
    """
    kind = kind_of_devices(base, root)
    listed = ",".join(devices)
    title = listed if devices[0].startswith(UUID) else f"GPU {listed}"
    if kind == "tpu":
        return f"TPU {devices[0]}", _chip(devices)
    if kind == "rocm":
        return title, {HIP: listed}
    if kind == "xpu":
        return title, {LEVEL_ZERO: listed}
    instances = [device for device in devices if device.startswith(MIG)]
    if instances and len(devices) > 1:
        raise InputError(
            f"a run cannot have {len(devices)} devices of which {len(instances)} are MIG instances: CUDA opens one",
            "give each run one device: remove --gpus-per-run",
        )
    is_users_order = CUDA in base or CUDA_ORDER in base
    return title, {CUDA: listed, **({} if is_users_order else {CUDA_ORDER: "PCI_BUS_ID"})}


def why_none(base: Mapping[str, str] = os.environ, root: Path = ROOT) -> str:
    """Why `find_gpus` finds none, as far as the environment or the driver tells; else empty."""
    kind = kind_of_devices(base, root)
    variable = _limiting_variable(kind, base)
    if variable is not None:
        return f"{variable} is {base[variable]!r}"
    output = nvidia_smi("-L", root=root).strip() if kind == "cuda" else ""
    return f"nvidia-smi says: {output.splitlines()[0].strip()}" if output else ""


def kind_of_devices(base: Mapping[str, str] = os.environ, root: Path = ROOT) -> Kind:
    """The kind of devices of this machine; CUDA where nothing is known."""
    if n_nvidia(root) or _smi_of_wsl(root).exists():
        return "cuda"
    if n_tpu(root):
        return "tpu"
    if (root / "dev/kfd").exists() and not (root / "dev/nvidiactl").exists():
        return "rocm"
    if CUDA in base:
        return "cuda"
    if HIP in base or ROCR in base:
        return "rocm"
    return "xpu" if LEVEL_ZERO in base else "cuda"


def has_devices(root: Path = ROOT) -> bool:
    """Whether this machine has a GPU for computing, or a TPU; takes no time."""
    paths = (root / "dev/nvidiactl", root / "dev/kfd", _smi_of_wsl(root))
    return any(path.exists() for path in paths) or n_tpu(root) > 0


def on_this_machine(analysis: Analysis, root: Path = ROOT) -> Analysis:
    """An analysis without hazards that only a GPU has, where there is none."""
    if has_devices(root):
        return analysis
    return replace(analysis, hazards=tuple(hazard for hazard in analysis.hazards if not hazard.device))


def nvidia_smi(*arguments: str, root: Path = ROOT) -> str:
    """What the program of NVIDIA's driver prints, errors included; empty if it is missing or does not answer."""
    program = _smi(root)
    if program is None:
        return ""
    try:
        return subprocess.run(
            [program, *arguments], capture_output=True, text=True, check=False, timeout=SMI_S,
            stdin=subprocess.DEVNULL, start_new_session=True, errors="replace",
        ).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""


def mig_profiles(root: Path = ROOT) -> tuple[str, ...]:
    """The profiles of the MIG instances of this machine, such as 1g.5gb, each once."""
    matches = map(LISTED_MIG.match, nvidia_smi("-L", root=root).splitlines())
    return tuple(sorted({match[1] for match in matches if match}))


def n_nvidia(root: Path = ROOT) -> int:
    return len([path for path in (root / "dev").glob("nvidia[0-9]*") if path.name[6:].isdecimal()])


def n_tpu(root: Path = ROOT) -> int:
    """Number of TPU chips: older ones are /dev/accel*, newer ones can be told by their PCI numbers only.

    Source: torch_xla/_internal/tpu.py, num_available_chips; jax/_src/hardware_utils.py.
    """
    chips = [path for path in (root / "dev").glob("accel[0-9]*") if path.name[5:].isdecimal()]
    if chips:
        return len(chips)
    vendors = (root / "sys/bus/pci/devices").glob("*/vendor")
    return sum(read_fact(path).strip() == TPU_VENDOR and read_fact(path.parent / "device").strip() in TPU_DEVICES
               for path in vendors)  # fmt: skip


def amd_gpus(root: Path = ROOT) -> tuple[str, ...]:
    """The architectures of AMD GPUs, one for each, such as gfx90a.

    Source: the kernel's documentation of amdkfd: nodes with SIMD units are GPUs, others CPUs; a node that a container
    may not use cannot be read. libhsakmt, topology.c: gfx_target_version has two decimal digits for each part, and the
    name writes the last two in hexadecimal.
    """
    architectures = []
    for path in sorted((root / "sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
        properties = dict(line.split()[:2] for line in read_fact(path).splitlines() if len(line.split()) > 1)
        if properties.get("simd_count", "0") != "0":
            version = int(properties.get("gfx_target_version", "0"))
            architectures.append(
                f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}" if version else "AMD GPU"
            )
    return tuple(architectures)


def _limiting_variable(kind: Kind, base: Mapping[str, str]) -> str | None:
    """The variable with which the user limits the devices; None without one."""
    return next((name for name in NAMING[kind] if name in base), None)


def _listed(text: str) -> tuple[str, ...]:
    """Numbers of GPUs; if any is divided, UUIDs of MIG instances and of the other GPUs: instances shift numbers."""
    uuids: dict[str, str] = {}
    instances: dict[str, list[str]] = {}
    for line in text.splitlines():
        if gpu := LISTED_GPU.match(line):
            uuids[gpu[1]] = gpu[2]
        elif (instance := LISTED_MIG.match(line)) and uuids:
            instances.setdefault(list(uuids)[-1], []).append(instance[2])
    if not instances:
        return tuple(uuids)
    return tuple(device for number, uuid in uuids.items() for device in instances.get(number, [uuid]))


def _usable(text: str) -> tuple[str, ...]:
    """Devices up to the first invalid name, such as -1; none if one is named twice.

    Source: CUDA C++ Programming Guide, CUDA environment variables; torch/cuda/__init__.py, _parse_visible_devices.
    """
    devices: list[str] = []
    for device in map(str.strip, text.split(",")):
        if device in devices:
            return ()
        if not DEVICE.fullmatch(device):
            break
        devices.append(device)
    return tuple(devices)


def _chip(chips: Sequence[str]) -> dict[str, str]:
    """One TPU chip, which serves one process at a time.

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
    return {**variables, "TPU_VISIBLE_CHIPS": chips[0], "TPU_VISIBLE_DEVICES": chips[0]}


def _smi(root: Path) -> str | None:
    program = shutil.which("nvidia-smi")
    if program is None and _smi_of_wsl(root).exists():
        return os.fspath(_smi_of_wsl(root))
    return program


def _smi_of_wsl(root: Path) -> Path:
    return root / SMI_OF_WSL


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def read_fact(path: Path) -> str:
    """What the system tells in a file; empty where it does not."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
