"""Facts about the interpreter: frameworks, packages, variables."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
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


def look(module: Any, notes: Any) -> None:
    notes.record("version", platform.python_version())
    notes.record("path", sys.executable)
    notes.record("implementation", platform.python_implementation())
    notes.record("build", " ".join((*platform.python_build(), platform.python_compiler())))
    notes.record("variables", {name: os.environ[name] for name in VARIABLES if name in os.environ})
    notes.record("known", list(FRAMEWORKS))
    notes.attempt("installed", list_installed)
    notes.attempt("packages", packages)


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
