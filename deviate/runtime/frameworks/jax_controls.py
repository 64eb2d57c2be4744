"""JAX: kernels and autotuning by flags of XLA, precision of matrix products by JAX's own setting; facts."""

from __future__ import annotations

import mmap
import os
import sys

from ..parts import Guest
from ..seeds import dress

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

FLAGS = "XLA_FLAGS"
DETERMINISTIC = ("--xla_gpu_deterministic_ops=true", "--xla_gpu_exclude_nondeterministic_ops=true")
"""The first one that the build knows is taken. Source: xla/debug_options_flags.cc of openxla/xla."""
NO_AUTOTUNING = ("--xla_gpu_autotune_level=0",)
PRECISION = "jax_default_matmul_precision"
FULL = "highest"
PLATFORMS = ("cuda", "rocm")


class Controls:
    """Sets what the variant holds, once JAX is imported and before any of its backends is there."""

    def __init__(self, jax: Any, guest: Guest) -> None:
        self.jax = jax
        self.guest = guest
        self.recorder = guest.recorder
        self.appended: list[str] = []

    def begin(self) -> None:
        controls = self.guest.controls
        if controls.get("precision") == "full":
            self._hold_precision()
        wanted = [
            (factor, flags)
            for factor, level, flags in (
                ("kernels", "deterministic", DETERMINISTIC),
                ("autotune", "off", NO_AUTOTUNING),
            )
            if controls.get(factor) == level
        ]
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
                self.appended.append(flag)
                self.recorder.event("control", factor, FLAGS, flag, "", 0, "set")
        self._append()
        self._append_late()

    # ------------------------------------------------------------ flags

    def _append(self) -> None:
        """The last of several settings of a flag counts."""
        given = os.environ.get(FLAGS, "").split()
        if given[len(given) - len(self.appended) :] != self.appended:
            os.environ[FLAGS] = " ".join([flag for flag in given if flag not in self.appended] + self.appended)

    def _append_late(self) -> None:
        """The script may set the variable after the import: XLA reads it when the first backend begins."""
        bridge = sys.modules.get("jax._src.xla_bridge")
        original = getattr(bridge, "_init_backend", None)
        if original is None:
            return

        def begin_backend(*args: Any, **kwargs: Any) -> Any:
            self._append()
            return original(*args, **kwargs)

        bridge._init_backend = dress(begin_backend, original)  # type: ignore[union-attr]

    def _free_kernels(self) -> None:
        given = os.environ.get(FLAGS, "").split()
        names = tuple(flag.partition("=")[0] for flag in DETERMINISTIC)
        for flag in given:
            if flag.partition("=")[0] in names:
                self.recorder.event("control", "kernels", FLAGS, flag, "", 0, "overridden")
        left = [flag for flag in given if flag.partition("=")[0] not in names]
        if left != given:
            os.environ[FLAGS] = " ".join(left)

    # ------------------------------------------------------------ precision

    def _hold_precision(self) -> None:
        config = self.jax.config
        update, context = config.update, self.jax.default_matmul_precision
        update(PRECISION, FULL)
        self.recorder.event("control", "precision", "jax.config.update", "%s=%s" % (PRECISION, FULL), "", 0, "set")

        def held(name: Any, value: Any) -> Any:
            if name != PRECISION:
                return update(name, value)
            self._tell_overridden("jax.config.update", value)
            return update(name, FULL)

        def held_context(value: Any) -> Any:
            self._tell_overridden("jax.default_matmul_precision", value)
            return context(FULL)

        config.update = dress(held, update)
        self.jax.default_matmul_precision = dress(held_context, context)

    def _tell_overridden(self, call: str, value: object) -> None:
        if str(value) != FULL:
            file, line = self.guest.project.nearest(sys._getframe(2))
            self.recorder.event("control", "precision", call, str(value), file, line, "overridden")


def has_gpu_plugin() -> bool:
    """Whether JAX may find a GPU; nothing is imported, and no backend begins."""
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
    """Whether this build of XLA has the flag: one that it does not know ends the process."""
    name = flag.lstrip("-").partition("=")[0].encode()
    folder = os.path.dirname(sys.modules["jaxlib"].__file__ or "")
    files = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if ".so" in name or ".pyd" in name]
    for file in sorted(files, key=os.path.getsize, reverse=True)[:1]:
        with open(file, "rb") as library, mmap.mmap(library.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return text.find(b"\0" + name + b"\0") >= 0
    return False


def facts(jax: Any) -> dict[str, str]:
    """What is known at the end. No backend is started for it."""
    config = jax.config
    told = {
        "jaxlib": str(getattr(sys.modules.get("jaxlib"), "__version__", "")),
        "XLA_FLAGS": os.environ.get(FLAGS, ""),
        "generator of jax": str(getattr(config, "jax_default_prng_impl", "")),
        "threefry partitionable": str(getattr(config, "jax_threefry_partitionable", "")),
        "precision of jax": str(getattr(config, PRECISION, "")),
    }
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is not None and getattr(bridge, "_backends", None):
        kinds = [str(device.device_kind) for device in jax.devices()]
        told["backend of jax"] = str(jax.default_backend())
        told["devices of jax"] = ", ".join("%d %s" % (kinds.count(kind), kind) for kind in sorted(set(kinds)))
        told["version of the backend of jax"] = str(jax.devices()[0].client.platform_version).replace("\n", " ")
    return {name: value for name, value in told.items() if value}
