"""Draws on devices whose generators the guest does not route, such as those of plug-ins: reported with their lines."""

from __future__ import annotations

from sys import _getframe
from types import CodeType, FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...seeds import wraps_like
from .replaced import register_builtin

ROUTED = frozenset(("cpu", "cuda", "xpu", "mps", "xla", "meta"))
"""Types of devices whose generators have a state per stream, or that hold no numbers."""
PLUGIN = "privateuseone"
"""The name of the device type for plug-ins until one of them renames it."""
FUNCTIONS = (
    "rand", "randn", "randint", "randperm", "normal", "rand_like", "randn_like", "randint_like", "bernoulli",
    "multinomial", "poisson", "binomial",
)  # fmt: skip
METHODS = (
    "bernoulli", "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "multinomial", "normal_",
    "random_", "uniform_",
)  # fmt: skip
DROPPING = (
    "dropout", "dropout_", "alpha_dropout", "alpha_dropout_", "feature_dropout", "feature_dropout_",
    "feature_alpha_dropout", "feature_alpha_dropout_", "native_dropout", "lstm", "gru", "rnn_tanh", "rnn_relu",
)  # fmt: skip
"""Functions with a rate of dropout, followed by whether the model is in training."""
RATES = ("p", "dropout", "dropout_p")


class UnroutedDraws:
    """Replaces the functions that draw as soon as such a device type is there: most processes have none."""

    def __init__(self, torch: Any, context: AdapterContext) -> None:
        self.torch = torch
        self.context = context
        self.is_watching = False
        self.is_of_project: dict[CodeType, bool] = {}
        self.seen: set[tuple[CodeType | None, int, str]] = set()

    def wait_for_devices(self) -> None:
        """Begin when a plug-in has registered a device type, or registers one later."""
        torch = self.torch
        if _plugin_name(torch) not in ("", PLUGIN):
            self.begin()
            return
        for owner, name in (
            (torch, "_register_device_module"),
            (torch.utils, "rename_privateuse1_backend"),
            (getattr(torch.utils, "backend_registration", None), "rename_privateuse1_backend"),
        ):
            if hasattr(owner, name):
                setattr(owner, name, self._begin_after(getattr(owner, name)))

    def _begin_after(self, original: Any) -> Any:
        def register(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if not args or str(args[0]).partition(":")[0] not in ROUTED:
                self.begin()
            return result

        return wraps_like(register, original)

    def meet(self, weight: Any) -> None:
        """Begin if the weight of a model is on such a device, however its type was registered."""
        if not self.is_watching and weight.device.type not in ROUTED and self.context.streams.is_active:
            self.begin()

    def begin(self) -> None:
        if self.is_watching:
            return
        self.is_watching = True
        torch, functional = self.torch, self.torch.nn.functional
        in_c = getattr(torch, "_VF", None)
        for name in FUNCTIONS:
            self._observe_draws(torch, name, _always)
        for name in METHODS:
            self._observe_draws(torch.Tensor, name, _always)
        for owner in (torch, in_c):
            for name in DROPPING:
                self._observe_draws(owner, name, _drops)
            for name in ("rrelu", "rrelu_"):
                self._observe_draws(owner, name, _is_training)
        self._observe_draws(functional, "scaled_dot_product_attention", _attention_drops)

    def _observe_draws(self, owner: Any, name: str, draws: Callable[[Any, Any], bool]) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return
        is_compiling = getattr(getattr(self.torch, "compiler", None), "is_compiling", bool)

        def draw(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if not is_compiling() and draws(args, kwargs):
                first = result[0] if isinstance(result, tuple) else result
                kind = getattr(getattr(first, "device", None), "type", "cpu")
                # A generator that the script made is routed on every device.
                if kind not in ROUTED and not hasattr(kwargs.get("generator"), "_bank"):
                    self._tell(kind, _getframe(1))
            return result

        wrapper = wraps_like(draw, original)
        setattr(owner, name, wrapper)
        if owner is self.torch:
            register_builtin(self.torch, wrapper, name)

    def _tell(self, kind: str, frame: FrameType) -> None:
        """Report a draw, once per line of the project."""
        caller: FrameType | None = frame
        while caller is not None and not self._is_of_project(caller.f_code):
            caller = caller.f_back
        key = (caller.f_code, caller.f_lineno, kind) if caller is not None else (None, 0, kind)
        if key not in self.seen:
            self.seen.add(key)
            text = "draws on the device %s, whose generator deviate does not route" % kind
            self.context.recorder.event("uncontrolled", text, *self.context.project.nearest(caller))

    def _is_of_project(self, code: CodeType) -> bool:
        answer = self.is_of_project.get(code)
        if answer is None:
            answer = self.is_of_project[code] = self.context.project.place(code) is not None
        return answer


def _plugin_name(torch: Any) -> str:
    """The name of the device type for plug-ins; empty in versions without one."""
    name = getattr(torch._C, "_get_privateuse1_backend_name", str)
    return str(name())


def _always(args: Any, kwargs: Any) -> bool:
    return True


def _drops(args: Any, kwargs: Any) -> bool:
    """Whether the rate is above zero and the model in training."""
    named = [kwargs[name] for name in RATES if name in kwargs]
    for index, value in enumerate(args):
        if type(value) is float:
            named.append(value)
            is_training = args[index + 1] if len(args) > index + 1 else kwargs.get("train", True)
            return bool(value > 0 and is_training)
    return any(rate > 0 for rate in named) and bool(kwargs.get("train", True))


def _is_training(args: Any, kwargs: Any) -> bool:
    return bool(args[3] if len(args) > 3 else kwargs.get("training", False))


def _attention_drops(args: Any, kwargs: Any) -> bool:
    rate = args[4] if len(args) > 4 else kwargs.get("dropout_p", 0.0)
    return bool(rate > 0)
