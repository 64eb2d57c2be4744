"""Controls of TensorFlow: deterministic operations, TF32 and threads, which the script cannot override.

TensorFlow has no mode that only warns: if operations are deterministic, an operation without a deterministic version
raises.
"""

from __future__ import annotations

import os
import sys
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...seeds import wraps_like

DETERMINISM = "tensorflow.config.experimental.enable_op_determinism"
TF32 = "tensorflow.config.experimental.enable_tensor_float_32_execution"
VARIABLES = ("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC")
"""What scripts set before the import; TensorFlow reads the first."""


class TensorFlowControls:
    """Sets the factors as the variant requires, and keeps them."""

    def __init__(self, context: AdapterContext, module: Any) -> None:
        self.context = context
        self.module = module
        self.config: Any = sys.modules.get("tensorflow.python.framework.config")

    def apply(self) -> None:
        experimental = self.module.config.experimental
        self._hold_kernels(experimental, self.context.controls.get("kernels"))
        if self.context.controls.get("precision") == "full":
            self._ask_for("precision", TF32, False, experimental.enable_tensor_float_32_execution)
            self._ignore(experimental, TF32, "precision", lambda enabled=True: bool(enabled))
        if "threads" in self.context.controls:
            threading, number = self.module.config.threading, int(self.context.controls["threads"])
            for name in ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads"):
                call = "tensorflow.config.threading." + name
                self._ask_for("threads", call, number, getattr(threading, name))
                self._ignore(threading, call, "threads")

    def _hold_kernels(self, experimental: Any, level: str | None) -> None:
        if level is None:
            return
        if level == "deterministic":
            self._ask_for("kernels", DETERMINISM, True, lambda enabled: experimental.enable_op_determinism())
            return
        variables = [variable for variable in VARIABLES if os.environ.get(variable, "0") not in ("", "0", "false")]
        for variable in variables:
            self.context.recorder.event("control", "kernels", variable, os.environ[variable], "", 0, "overridden")
        if variables:
            self.config.disable_op_determinism()
        self._ignore(experimental, DETERMINISM, "kernels")

    def _ask_for(self, factor: str, call: str, value: object, act: Callable[[Any], object]) -> None:
        act(value)
        self.context.recorder.event("control", factor, call, str(value), "", 0, "set")

    def _ignore(
        self, owner: Any, call: str, factor: str, is_against: Callable[..., bool] = lambda *args, **kwargs: True
    ) -> None:
        """Make a setter only record calls by the script that would undo the variant.

        Args:
            is_against: called with its arguments; whether they would undo what the variant wants.
        """
        name = call.rpartition(".")[2]
        original = getattr(owner, name)

        def setter(*args: Any, **kwargs: Any) -> None:
            with self.context.recorder.guarded(call):
                if is_against(*args, **kwargs):
                    value = ", ".join(map(repr, (*args, *kwargs.values())))
                    place = self.context.project.nearest(_getframe(1))
                    self.context.recorder.event("control", factor, call, value, *place, "overridden")

        setattr(owner, name, wraps_like(setter, original))

    def is_deterministic(self) -> bool:
        is_enabled = getattr(self.config, "is_op_determinism_enabled", None)
        return bool(is_enabled()) if is_enabled is not None else False

    def facts(self) -> dict[str, object]:
        """The settings at the end of the run; reading them earlier would initialise devices and fix thread counts."""
        config = self.module.config
        build = self.module.sysconfig.get_build_info()
        facts: dict[str, object] = {"TensorFlow op determinism": self.is_deterministic()}
        if "threads" not in self.context.controls:  # in runs that vary them, they are no difference to warn of
            facts["TensorFlow intra-op threads"] = config.threading.get_intra_op_parallelism_threads()
            facts["TensorFlow inter-op threads"] = config.threading.get_inter_op_parallelism_threads()
        facts.update(
            {"%s of TensorFlow" % key: str(build[key]) for key in ("cuda_version", "cudnn_version") if key in build}
        )
        port = sys.modules.get("tensorflow.python.util._pywrap_util_port")
        if port is not None and "onednn" not in self.context.controls:
            facts["oneDNN of TensorFlow"] = bool(port.IsMklEnabled())
        context = sys.modules["tensorflow.python.eager.context"].context()
        if context._context_handle is not None:
            facts["devices of TensorFlow"] = ", ".join(_device(config, each) for each in config.list_physical_devices())
        return facts


def _device(config: Any, device: Any) -> str:
    details = config.experimental.get_device_details(device) if device.device_type == "GPU" else {}
    return str(details.get("device_name", device.name.rpartition("physical_device:")[2]))
