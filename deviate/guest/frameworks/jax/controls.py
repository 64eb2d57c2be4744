"""JAX: kernels and autotuning by XLA flags, precision of matrix products by a JAX setting; facts."""

from __future__ import annotations

import mmap
import os
import sys

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import wraps_like

FLAGS = "XLA_FLAGS"
DETERMINISTIC = ("--xla_gpu_deterministic_ops=true", "--xla_gpu_exclude_nondeterministic_ops=true")
"""The first one that the build knows is taken. Source: xla/debug_options_flags.cc of openxla/xla."""
NO_AUTOTUNING = ("--xla_gpu_autotune_level=0",)
PRECISION = "jax_default_matmul_precision"
FULL = "highest"
AS_FULL = (FULL, "float32")
"""Two names of one precision."""
PLATFORMS = ("cuda", "rocm")


class JaxControls:
    """Applies the settings of the variant when JAX is imported, before any of its backends is initialised."""

    def __init__(self, jax: Any, context: AdapterContext) -> None:
        self.jax = jax
        self.context = context
        self.recorder = context.recorder
        self.appended: dict[str, str] = {}

    def begin(self) -> None:
        controls = self.context.controls
        if controls.get("precision") == "full":
            self._hold_precision()
        holding = (("kernels", "deterministic", DETERMINISTIC), ("autotune", "off", NO_AUTOTUNING))
        wanted = [(factor, flags) for factor, level, flags in holding if controls.get(factor) == level]
        is_free = controls.get("kernels") == "default"
        if not (wanted or is_free) or not has_gpu_plugin():
            return
        if is_free:
            self._free_kernels()
        for factor, flags in wanted:
            flag = next((flag for flag in flags if is_known(self.jax, flag)), None)
            if flag is None:
                self.recorder.event("uncontrolled", "%s: XLA has no flag like %s" % (factor, flags[0]), "", 0)
            else:
                self.appended[factor] = flag
                self.recorder.event("control", factor, FLAGS, flag, "", 0, "set")
        self._append()
        self._append_late()

    # ------------------------------------------------------------ flags

    def _append(self) -> None:
        """Append flags to the variable; the last setting of a flag counts."""
        flags = os.environ.get(FLAGS, "").split()
        factors = {_name(flag): factor for factor, flag in self.appended.items()}
        for flag in flags:
            if _name(flag) in factors and flag not in self.appended.values():
                self.recorder.event("control", factors[_name(flag)], FLAGS, flag, "", 0, "overridden")
        other_flags = [flag for flag in flags if _name(flag) not in factors]
        os.environ[FLAGS] = " ".join([*other_flags, *self.appended.values()])

    def _append_late(self) -> None:
        """Append the flags again later, since the script may set the variable before a backend reads it."""
        bridge = sys.modules.get("jax._src.xla_bridge")
        self.context.observe(bridge, "_init_backend", before=lambda *args, **kwargs: self._append())

    def _free_kernels(self) -> None:
        flags = os.environ.get(FLAGS, "").split()
        freed = [flag for flag in flags if _name(flag) in map(_name, DETERMINISTIC) and not flag.endswith("=false")]
        for flag in freed:
            self.recorder.event("control", "kernels", FLAGS, flag, "", 0, "overridden")
        if freed:
            os.environ[FLAGS] = " ".join(flag for flag in flags if flag not in freed)

    # ------------------------------------------------------------ precision

    def _hold_precision(self) -> None:
        config = self.jax.config
        update, context = config.update, self.jax.default_matmul_precision
        update(PRECISION, FULL)
        self.recorder.event("control", "precision", "jax.config.update", "%s=%s" % (PRECISION, FULL), "", 0, "set")

        def patched_update(name: Any, value: Any) -> Any:
            if name != PRECISION or value in AS_FULL:
                return update(name, value)
            self._tell_overridden("jax.config.update", value)
            return update(name, FULL)

        def held_context(value: Any) -> Any:
            if value in AS_FULL:
                return context(value)
            self._tell_overridden("jax.default_matmul_precision", value)
            return context(FULL)

        config.update = wraps_like(patched_update, update)
        self.jax.default_matmul_precision = wraps_like(held_context, context)

    def _tell_overridden(self, call: str, value: object) -> None:
        file, line = self.context.project.nearest(sys._getframe(2))
        self.recorder.event("control", "precision", call, str(value), file, line, "overridden")


def _name(flag: str) -> str:
    return flag.lstrip("-").partition("=")[0]


def has_gpu_plugin() -> bool:
    """Whether JAX may find a GPU, without importing anything or initialising a backend."""
    from importlib.util import find_spec
    from pkgutil import iter_modules

    spec = find_spec("jax_plugins")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    names = [module.name for module in iter_modules(folders)]
    if any(platform in name for name in names for platform in PLATFORMS):
        return True
    jaxlib = sys.modules.get("jaxlib")
    return any(platform in str(getattr(jaxlib, "__version__", "")) for platform in PLATFORMS)


def is_known(jax: Any, flag: str) -> bool:
    """Whether this build of XLA supports the flag: an unknown flag aborts the process."""
    name = _name(flag).encode()
    folder = os.path.dirname(sys.modules["jaxlib"].__file__ or "")
    files = [os.path.join(folder, file) for file in os.listdir(folder) if file.endswith((".so", ".pyd", ".dylib"))]
    if not files:
        return False
    # The flags are in the library that contains XLA; the others are small wrappers.
    with open(max(files, key=os.path.getsize), "rb") as library:
        text = mmap.mmap(library.fileno(), 0, access=mmap.ACCESS_READ)
        return text.find(name + b"\0") >= 0


def facts(jax: Any) -> dict[str, str]:
    """Facts that are known at the end, without initialising a backend."""
    config = jax.config
    values = {
        "jaxlib": str(getattr(sys.modules.get("jaxlib"), "__version__", "")),
        "XLA_FLAGS": os.environ.get(FLAGS, ""),
        "generator of jax": str(getattr(config, "jax_default_prng_impl", "")),
        "threefry partitionable": str(getattr(config, "jax_threefry_partitionable", "")),
        "precision of jax": str(getattr(config, PRECISION, "")),
    }
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and getattr(bridge, "_backends", None):
        kinds = [str(device.device_kind) for device in jax.devices()]
        values["backend of jax"] = str(jax.default_backend())
        values["devices of jax"] = ", ".join("%d %s" % (kinds.count(kind), kind) for kind in sorted(set(kinds)))
        values["version of the backend of jax"] = str(jax.devices()[0].client.platform_version).replace("\n", " ")
    return {name: value for name, value in values.items() if value}
