"""Facts about JAX: its library, plug-ins, devices, and which XLA flags this build supports."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = {
    "init": ["nn.initializers.normal"],
    "shuffle": ["random.permutation", "random.choice"],
    "split": ["random.permutation", "random.choice"],
    "other": ["random.PRNGKey", "random.key", "random.fold_in"],
    "one-bit": ["jit"],
    "weights": ["jit", "grad", "value_and_grad"],
}
PLUGINS = ("jax-cuda13-plugin", "jax-cuda12-plugin", "jax-rocm7-plugin", "jax-rocm60-plugin", "jax-metal", "libtpu")


def look(jax: Any, notes: Any) -> None:
    notes.attempt("build", _build)
    notes.attempt("precision", lambda: _set_precision(jax))
    notes.attempt("generator", lambda: str(jax.config.jax_default_prng_impl))
    notes.begin_step("starting its backend, while a TPU serves one process at a time")
    notes.attempt("backend", jax.default_backend)
    notes.attempt("gpus", lambda: _devices(jax))
    notes.attempt("device_types", lambda: _device_types(jax))


def accepts(jax: Any, notes: Any) -> None:
    """Runs in a process with one additional flag in XLA_FLAGS: an unknown flag aborts the process."""
    notes.begin_step("starting its backend with that flag")
    notes.attempt("accepts", lambda: float(jax.jit(lambda number: number + 1)(1.0)) == 2.0)


def _device_types(jax: Any) -> list[dict[str, Any]]:
    """The platforms of JAX and its plug-ins, with the number of local devices or the reason why there are none."""
    bridge = importlib.import_module("jax._src.xla_bridge")
    started = bridge.backends()
    errors = getattr(bridge, "_backend_errors", {})
    names = sorted({*started, *getattr(bridge, "_backend_factories", ())} - {"cpu"})
    types = [{"name": "cpu", "n": started["cpu"].local_device_count() if "cpu" in started else None, "is_built": True}]
    for name in names:
        n = started[name].local_device_count() if name in started else 0
        why = " ".join(str(errors.get(name, "")).split())
        is_missing = name == "tpu" and "libtpu" in why and "No such file" in why
        why = "libtpu is not installed" if is_missing else why
        types.append({"name": name, "n": n, "is_built": not is_missing, "why": why})
    return types


def _build() -> str:
    from importlib.metadata import PackageNotFoundError, version

    versions = []
    for name in ("jaxlib", *PLUGINS):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


def _set_precision(jax: Any) -> bool:
    jax.config.update("jax_default_matmul_precision", "highest")
    return bool(jax.config.jax_default_matmul_precision == "highest")


def _devices(jax: Any) -> list[str]:
    return [f"{device.platform} {device.device_kind}" for device in jax.devices() if device.platform != "cpu"]
