"""Facts about JAX: its library, plug-ins, devices, and which XLA flags this build supports."""

from __future__ import annotations

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


def accepts(jax: Any, notes: Any) -> None:
    """Runs in a process with one additional flag in XLA_FLAGS: an unknown flag aborts the process."""
    notes.begin_step("starting its backend with that flag")
    notes.attempt("accepts", lambda: float(jax.jit(lambda number: number + 1)(1.0)) == 2.0)


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
