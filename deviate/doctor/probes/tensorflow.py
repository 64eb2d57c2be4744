"""Facts about TensorFlow: build, devices, and whether op determinism can be enabled."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEEDS = "python.framework.random_seed.get_seed"
"""The function from which every random operation reads its seeds."""
PLACES = {
    **{stream: [SEEDS] for stream in ("init", "shuffle", "augment", "dropout", "split", "other")},
    "kernels": ["config.experimental.enable_op_determinism"],
    "precision": ["config.experimental.enable_tensor_float_32_execution"],
    "threads": ["config.threading.set_intra_op_parallelism_threads"],
}


def look(tf: Any, notes: Any) -> None:
    notes.record("build", _build(tf))
    notes.attempt("is_eager", lambda: bool(tf.executing_eagerly()))
    notes.attempt("onednn", _has_onednn)
    notes.attempt("threads", lambda: _threads(tf))
    notes.attempt("sets_threads", lambda: _sets_threads(tf))
    notes.begin_step("listing its devices")
    notes.attempt("gpus", lambda: _devices(tf))
    notes.begin_step("enabling op determinism")
    notes.attempt("is_deterministic", lambda: _switch_on(tf))
    notes.attempt("refuses", lambda: _refuses(tf))


def _build(tf: Any) -> str:
    facts = tf.sysconfig.get_build_info() if hasattr(tf.sysconfig, "get_build_info") else {}
    git = tf.version.GIT_VERSION
    if facts.get("is_cuda_build"):
        return f"CUDA {facts.get('cuda_version')}, cuDNN {facts.get('cudnn_version')}, {git}"
    return f"ROCm, {git}" if facts.get("is_rocm_build") else f"CPU build, {git}"


def _has_onednn() -> bool:
    return bool(importlib.import_module("tensorflow.python.util._pywrap_util_port").IsMklEnabled())


def _threads(tf: Any) -> str:
    """Thread counts as set; 0 means one per CPU."""
    numbers = (
        tf.config.threading.get_intra_op_parallelism_threads(),
        tf.config.threading.get_inter_op_parallelism_threads(),
    )
    return "{}, inter-op {}".format(*(number or "one per CPU" for number in numbers))


def _sets_threads(tf: Any) -> bool:
    """Whether thread counts can be set: only before the first operation."""
    tf.config.threading.set_intra_op_parallelism_threads(1)
    return bool(tf.config.threading.get_intra_op_parallelism_threads() == 1)


def _devices(tf: Any) -> list[str]:
    devices = []
    for device in tf.config.list_physical_devices():
        if device.device_type != "CPU":
            details = tf.config.experimental.get_device_details(device)
            devices.append(f"{device.device_type} {details.get('device_name', device.name)}")
    return devices


def _switch_on(tf: Any) -> bool:
    tf.config.experimental.enable_op_determinism()
    return True


def _refuses(tf: Any) -> bool:
    """Whether an unseeded random operation raises while op determinism is on."""
    try:
        tf.random.normal([1])
    except RuntimeError as error:
        return "seed" in str(error)
    return False
