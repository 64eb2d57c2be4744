"""Controls of PyTorch: kernels, autotuning, precision, threads, oneDNN, and a report of the final settings.

Settings are enforced in the C functions that all interfaces call: calls by the script that would undo a setting are
recorded and ignored.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...seeds import wraps_like

REDUCED = ("tf32", "bf16")
INDUCTOR = "torch._inductor.config"
WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


def hold_factors(torch: Any, context: AdapterContext) -> None:
    controls, holding = context.controls, Holding(torch, context)
    if controls.get("kernels"):
        is_held = controls["kernels"] == "deterministic"
        holding.kernels(is_held, is_held and controls.get("on-missing") == "warn")
    if controls.get("autotune") == "off":
        holding.switch("autotune", "torch.backends.cudnn.benchmark", "_set_cudnn_benchmark", False)
    if controls.get("precision") == "full":
        holding.precision()
    if controls.get("threads"):
        holding.threads(int(controls["threads"]))
    if controls.get("onednn"):
        is_on = controls["onednn"] != "off"
        holding.switch("onednn", "torch.backends.mkldnn.enabled", "_set_mkldnn_enabled", is_on)
    context.recorder.at_close.append(lambda: context.recorder.event("environment", effective(torch)))


class Holding:
    """Applies the settings of the variant, and keeps them."""

    def __init__(self, torch: Any, context: AdapterContext) -> None:
        self.torch = torch
        self.context = context
        self.recorded: set[tuple[object, ...]] = set()

    def kernels(self, is_deterministic: bool, is_warning: bool) -> None:
        factor, torch = "kernels", self.torch

        def undoes(mode: Any, *, warn_only: Any = False) -> bool:
            return bool(mode) != is_deterministic or (is_deterministic and bool(warn_only) != is_warning)

        call = "torch.use_deterministic_algorithms"
        torch._C._set_deterministic_algorithms(is_deterministic, warn_only=is_warning)
        self._tell(factor, call, "%s%s" % (is_deterministic, ", warn_only=True" * is_warning), "", 0, "set")
        # The public function also informs the compiler, which takes seconds to import.
        if INDUCTOR in sys.modules:
            sys.modules[INDUCTOR].deterministic = is_deterministic  # type: ignore[attr-defined]
        elif is_deterministic:
            os.environ["TORCHINDUCTOR_DETERMINISTIC"] = "1"
        else:
            os.environ.pop("TORCHINDUCTOR_DETERMINISTIC", None)
        self._guard(factor, call, torch, "use_deterministic_algorithms", undoes)
        self._guard(factor, "torch.set_deterministic_debug_mode", torch._C, "_set_deterministic_algorithms", undoes)
        self.switch(factor, "torch.backends.cudnn.deterministic", "_set_cudnn_deterministic", is_deterministic)
        if is_warning:
            patch_warnings(self.context)
        if not is_deterministic:
            self._free_workspace()

    def _free_workspace(self) -> None:
        """Remove the variable that a script sets before CUDA is initialised; cuBLAS reads it later.

        Source: torch/cuda/__init__.py, _lazy_init: queued calls are carried out once CUDA is there.
        """

        def remove() -> None:
            with self.context.recorder.guarded(WORKSPACE):
                value = os.environ.pop(WORKSPACE, None)
                if value is not None:
                    self._tell("kernels", WORKSPACE, value, "", 0, "overridden")

        queue = getattr(getattr(self.torch, "cuda", None), "_lazy_call", None)
        if queue is not None:
            queue(remove)

    def precision(self) -> None:
        factor, torch = "precision", self.torch
        self.switch(factor, "torch.backends.cuda.matmul.allow_tf32", "_set_cublas_allow_tf32", False)
        self.switch(factor, "torch.backends.cudnn.allow_tf32", "_set_cudnn_allow_tf32", False)
        self._hold(
            factor,
            "torch.set_float32_matmul_precision",
            "_set_float32_matmul_precision",
            "highest",
            lambda precision: precision != "highest",
        )
        if hasattr(torch._C, "_set_fp32_precision_setter"):
            torch._C._set_fp32_precision_setter("generic", "all", "ieee")
            self._tell(factor, "torch.backends.fp32_precision", "'ieee'", "", 0, "set")
            self._guard(
                factor,
                "fp32_precision",
                torch._C,
                "_set_fp32_precision_setter",
                lambda backend, operation, precision: precision in REDUCED,
            )

    def threads(self, count: int) -> None:
        self.torch.set_num_threads(count)
        self._tell("threads", "torch.set_num_threads", repr(count), "", 0, "set")
        self._guard("threads", "torch.set_num_threads", self.torch, "set_num_threads", lambda n: n != count)

    def switch(self, factor: str, call: str, name: str, level: bool) -> None:
        self._hold(factor, call, name, level, lambda value, *more: bool(value) != level)

    def _hold(self, factor: str, call: str, name: str, level: object, undoes: Callable[..., bool]) -> None:
        setter = getattr(self.torch._C, name, None)
        if setter is not None:
            setter(level)
            self._tell(factor, call, repr(level), "", 0, "set")
            self._guard(factor, call, self.torch._C, name, undoes)

    def _guard(self, factor: str, call: str, owner: Any, name: str, undoes: Callable[..., bool]) -> None:
        original = getattr(owner, name)

        def setter(*args: Any, **kwargs: Any) -> Any:
            frame = _getframe(1)
            # A loader worker sets its own thread count to one, in its process.
            is_worker = frame.f_globals.get("__name__") == "torch.utils.data._utils.worker"
            if not is_worker and self._is_undone(undoes, args, kwargs):
                with self.context.recorder.guarded(call):
                    value = ", ".join([*map(repr, args), *("%s=%r" % item for item in kwargs.items())])[:80]
                    self._tell(factor, call, value, *self.context.project.nearest(frame), "overridden")
                return None
            return original(*args, **kwargs)

        guarded_setter = wraps_like(setter, original)
        setattr(owner, name, guarded_setter)
        for backend in ("cudnn", "mkldnn"):  # their settings are descriptors that hold the original
            for descriptor in vars(type(getattr(self.torch.backends, backend, None))).values():
                if getattr(descriptor, "setter", None) is original:
                    descriptor.setter = guarded_setter

    def _is_undone(self, undoes: Callable[..., bool], args: Any, kwargs: Any) -> bool:
        try:
            return undoes(*args, **kwargs)
        except TypeError:  # the original raises the right error for invalid arguments
            return False

    def _tell(self, *change: object) -> None:
        if change not in self.recorded:
            self.recorded.add(change)
            self.context.recorder.event("control", *change)


def build_facts(torch: Any) -> dict[str, str]:
    """How PyTorch was built, available at once."""
    facts = {"torch": str(torch.__version__)}
    if torch.version.cuda:
        facts["CUDA of torch"] = torch.version.cuda
    lines = [line.strip(" -") for line in torch.__config__.show().splitlines()]
    facts["torch build"] = "; ".join(line for line in lines if line and not line.startswith(("PyTorch", "Build")))
    return facts


def effective(torch: Any) -> dict[str, str]:
    """The settings in force, read without initialising anything."""
    backends, cuda = torch.backends, torch.cuda
    readers: dict[str, Callable[[], object]] = {
        "torch threads": torch.get_num_threads,
        "torch deterministic algorithms": lambda: ("off", "warn only", "on")[torch.get_deterministic_debug_mode()],
        "torch cuDNN deterministic": lambda: _switch(backends.cudnn.deterministic),
        "torch cuDNN benchmark": lambda: _switch(backends.cudnn.benchmark),
        "torch TF32 in cuDNN": lambda: _switch(backends.cudnn.allow_tf32),
        "torch TF32 in matmul": lambda: _switch(backends.cuda.matmul.allow_tf32),
        "torch float32 matmul precision": lambda: str(torch.get_float32_matmul_precision()),
        "torch oneDNN": lambda: _switch(backends.mkldnn.enabled),
    }
    if WORKSPACE in os.environ:
        readers["cuBLAS workspace"] = lambda: os.environ[WORKSPACE]
    if cuda.is_initialized():
        readers["CUDA devices"] = lambda: ", ".join(map(cuda.get_device_name, range(cuda.device_count())))
        readers["CUDA driver"] = lambda: str(torch._C._cuda_getDriverVersion())
        readers["cuDNN"] = backends.cudnn.version
    facts = {}
    for name, reader in readers.items():
        try:
            facts[name] = str(reader())
        except (AttributeError, RuntimeError):  # not in this version, or set through both the old and the new interface
            pass
    return facts


def _switch(value: object) -> str:
    return "on" if value else "off"


# ---------------------------------------------------------------- operations without a deterministic version

# PyTorch warns about them if they do not raise.

WARNING = re.compile(
    r"(.{1,200}?) (?:does not have a deterministic implementation|defaults to a non-deterministic algorithm)"
    r"|Deterministic behavior was enabled .{1,200}? because it uses (CuBLAS)"
)
"""Attention has a deterministic version that is used only where PyTorch raises, and cuBLAS one that needs a variable.

Source: aten/src/ATen/native/transformers/cuda/attention_backward.cu; aten/src/ATen/Context.cpp.
"""


def patch_warnings(context: AdapterContext) -> None:
    """Read every warning before the script's filters do, without changing what they do.

    C code asks the filters in order whether they match a message. This one never does, and stays first even if the
    script adds others.
    """
    entry = ("default", _Reader(context), Warning, None, 0)

    def lead() -> None:
        filters: Any = warnings.filters
        if not filters or filters[0] is not entry:
            filters[:] = [entry, *(other for other in filters if other is not entry)]

    def patch(name: str) -> None:
        original = getattr(warnings, name)

        def function(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            finally:
                lead()

        setattr(warnings, name, wraps_like(function, original))

    for name in ("filterwarnings", "simplefilter", "resetwarnings"):
        patch(name)
    lead()


class _Reader:
    """Takes the place of a regular expression in a filter."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.recorded: set[str] = set()

    def match(self, text: object) -> None:
        with self.context.recorder.guarded("warnings"):
            match = WARNING.match(str(text))
            operation = match and (match.group(1) or match.group(2))
            if operation and operation not in self.recorded:
                self.recorded.add(operation)
                self.context.recorder.event("operation", operation, *self.context.project.nearest(_getframe(1)))
