"""Facts about the interpreter and its machine: frameworks, processor, available CPUs, accelerators, variables."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FRAMEWORKS = (
    "numpy", "sklearn", "torch", "torch_xla", "tensorflow", "keras", "jax", "flax", "optax", "haiku", "lightning",
    "transformers", "accelerate", "lightgbm", "xgboost", "catboost", "gymnasium",
)  # fmt: skip
VARIABLES = (
    "PYTHONHASHSEED", "PYTHONPATH", "PYTHONSAFEPATH", "PYTHONNOUSERSITE",
    "OMP_NUM_THREADS", "OMP_DYNAMIC", "OMP_SCHEDULE", "MKL_NUM_THREADS", "MKL_DYNAMIC", "MKL_CBWR",
    "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA",
    "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "TF_ENABLE_ONEDNN_OPTS", "TF_DETERMINISTIC_OPS",
    "TF_CUDNN_DETERMINISTIC", "TF_CUDNN_USE_AUTOTUNE", "TF_USE_CUDNN_AUTOTUNE",
    "XLA_FLAGS", "PJRT_DEVICE", "JAX_PLATFORMS", "JAX_ENABLE_X64", "JAX_DEFAULT_MATMUL_PRECISION",
    "JAX_DEFAULT_PRNG_IMPL", "JAX_THREEFRY_PARTITIONABLE", "KERAS_BACKEND", "TF_USE_LEGACY_KERAS",
    "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
    "TORCHINDUCTOR_MAX_AUTOTUNE", "PYTORCH_TUNABLEOP_ENABLED",
)  # fmt: skip
"""The only variables that are read: others may be secrets."""
INSTRUCTIONS = ("sse4_2", "avx", "avx2", "avx512f", "avx512_bf16", "amx_tile", "asimd", "sve")
PATIENCE_S = 10
TPU_CHIPS = ("0x0027", "0x0056", "0x005e", "0x0062", "0x0063", "0x006f", "0x0076")


def look(module: Any, notes: Any) -> None:
    notes.record("version", platform.python_version())
    notes.record("path", sys.executable)
    notes.record("implementation", platform.python_implementation())
    notes.record("build", " ".join((*platform.python_build(), platform.python_compiler())))
    notes.record("variables", {name: os.environ[name] for name in VARIABLES if name in os.environ})
    notes.record("known", list(FRAMEWORKS))
    notes.attempt("installed", list_installed)
    notes.attempt("packages", packages)
    notes.record("system", f"{platform.system()} {platform.machine()}")
    cpu = notes.attempt("cpu", processor) or {}
    notes.record("instructions", [name for name in INSTRUCTIONS if name in cpu.get("flags", "").split()])
    notes.record("n_cpus", os.cpu_count())
    if hasattr(os, "sched_getaffinity"):
        notes.record("n_cpus_allowed", len(os.sched_getaffinity(0)))
    notes.attempt("quota", quota)
    notes.attempt("container", container)
    notes.begin_step("querying the drivers for devices")
    notes.attempt("accelerators", accelerators)


def list_installed() -> list[str]:
    """Installed frameworks; a folder of that name without a package is ignored."""
    names = []
    for name in FRAMEWORKS:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            names.append(name)
    return names


def packages() -> str:
    """A digest of what can be imported: the names on the path, with the changes of packages and of the frameworks.

    Folders of packages count by name only, since an import may write bytecode into them.
    """
    lines = []
    for folder in sys.path:
        if Path(folder).is_file():  # an archive
            lines.append(_change(folder))
        elif Path(folder).is_dir():
            for entry in sorted(Path(folder).iterdir()):
                is_kept = entry.is_file() or entry.suffix in (".dist-info", ".egg-info")
                lines.append(_change(str(entry)) if is_kept else str(entry))
    specs = [importlib.util.find_spec(name) for name in FRAMEWORKS]
    lines += [_change(spec.origin) for spec in specs if spec is not None and spec.origin is not None]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _change(path: str) -> str:
    facts = os.stat(path)  # noqa: PTH116  a frozen module has no path
    return f"{path} {facts.st_size} {facts.st_mtime_ns}"


def processor() -> dict[str, str]:
    """Name and flags of the first processor."""
    facts: dict[str, str] = {}
    if Path("/proc/cpuinfo").exists():
        for line in _read_file("/proc/cpuinfo").splitlines():
            key, _, value = line.partition(":")
            facts.setdefault(key.strip().lower(), value.strip())
    elif shutil.which("sysctl"):
        facts["model name"] = _run_command("sysctl", "-n", "machdep.cpu.brand_string")
    return {
        "name": facts.get("model name") or platform.processor() or platform.machine(),
        "flags": facts.get("flags", facts.get("features", "")),
    }


def quota() -> float | None:
    """CPU time that the control group may use, in CPUs; None for no limit."""
    limits = []
    for path in _own_groups("/sys/fs/cgroup", ""):
        allowed = _read_file(f"{path}/cpu.max").split()
        if len(allowed) == 2 and allowed[0] != "max":
            limits.append(int(allowed[0]) / int(allowed[1]))
    for path in _own_groups("/sys/fs/cgroup/cpu", "cpu"):
        allowed = _read_file(f"{path}/cpu.cfs_quota_us").split()
        period = _read_file(f"{path}/cpu.cfs_period_us").split()
        if allowed and period and int(allowed[0]) > 0:
            limits.append(int(allowed[0]) / int(period[0]))
    return min(limits) if limits else None


def _own_groups(root: str, controller: str) -> list[str]:
    """Folders of this process's control group and its ancestors, any of which may set a limit.

    Source: cgroups(7), /proc/[pid]/cgroup: hierarchy:controllers:path, without controllers for version 2.
    """
    folders = [root]
    for line in _read_file("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            below = root
            for part in path.strip("/").split("/"):
                below = f"{below}/{part}"
                folders.append(below)
    return folders


def container() -> str:
    if os.environ.get("APPTAINER_CONTAINER") or os.environ.get("SINGULARITY_CONTAINER"):
        return "Apptainer"
    if Path("/.dockerenv").exists():
        return "Docker"
    if Path("/run/.containerenv").exists():
        return "Podman"
    return "Kubernetes" if os.environ.get("KUBERNETES_SERVICE_HOST") else ""


def accelerators(root: str = "/") -> list[str]:
    """Devices known to the system, with their drivers."""
    devices = _nvidia_gpus(root)
    if Path(root, "dev/kfd").exists():
        version = _read_file(f"{root}/sys/module/amdgpu/version").strip()
        devices.append(f"AMD GPU (driver {version or 'of unknown version'})")
    tpus = _count_tpus(root)
    if tpus:
        devices.append(f"TPU, {tpus} chips")
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        devices.append("Apple GPU")
    return devices


def _nvidia_gpus(root: str) -> list[str]:
    """NVIDIA GPUs with their driver and MIG instances; if the driver is loaded and lists none, what it answers."""
    in_wsl = Path(root, "usr/lib/wsl/lib/nvidia-smi")
    program = shutil.which("nvidia-smi") or (str(in_wsl) if in_wsl.exists() else "")
    devices = []
    answer = ""
    if program:
        answer = _run_command(program, "--query-gpu=name,driver_version", "--format=csv,noheader", is_checked=False)
        for line in answer.splitlines():
            name, comma, driver = line.rpartition(", ")
            if comma and driver[:1].isdecimal():
                devices.append(f"{name} (driver {driver})")
    if devices:
        n_instances = _run_command(program, "-L").count("(UUID: MIG-")
        return [*devices, f"{n_instances} MIG instances"] if n_instances else devices
    if Path(root, "proc/driver/nvidia/version").exists():
        reason = next(iter(answer.splitlines()), "")
        return [f"NVIDIA driver, but nvidia-smi lists no device{f' ({reason})' if reason else ''}"]
    return []


def _count_tpus(root: str) -> int:
    """TPU chips: device files, or PCI devices of Google, among which are network cards.

    Source: jax/_src/hardware_utils.py.
    """
    ids = [
        (_read_file(str(folder / "vendor")).strip(), _read_file(str(folder / "device")).strip())
        for folder in Path(root, "sys/bus/pci/devices").glob("*")
    ]
    on_bus = sum(vendor == "0x1ae0" and device in TPU_CHIPS for vendor, device in ids)
    return max(on_bus, len(list(Path(root, "dev").glob("accel[0-9]*"))))


def _run_command(*command: str, is_checked: bool = True) -> str:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
        timeout=PATIENCE_S, text=True,
    )  # fmt: skip
    return done.stdout if done.returncode == 0 or not is_checked else ""


def _read_file(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
