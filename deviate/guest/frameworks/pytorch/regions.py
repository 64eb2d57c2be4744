"""Regions of PyTorch: constructors and initialisers, forward passes, modules that transform data, and orders."""

from __future__ import annotations

import sys
import weakref
from threading import get_ident
from types import FunctionType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...regions import INIT, Constructor, at_subclass, region
from ...seeds import wraps_like
from ...split import EarlyDraws, Splitting
from ...streams import Streams
from .generators import backward_check
from .proof import Proof
from .replaced import register_builtin

DRAWS = (
    "rand", "randn", "randint", "normal", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial",
    "poisson",
)  # fmt: skip
"""Functions that draw, those for permutations left out."""
DROPOUT, AUGMENT = "dropout", "augment"
DRAWING = ("Dropout", "RReLU", "FractionalMaxPool")
"""Parts of the names of PyTorch's own classes that have no weights and draw. Losses and activations draw nothing."""


def patch_regions(torch: Any, context: AdapterContext) -> None:
    """Install the regions of an active guest, except forward passes, which are observed in every variant."""
    _patch_constructors(torch.nn.Module, context.streams)
    _patch_initialisers(torch.nn.init, context.streams)
    Splitting(context.streams, context.project).patch(torch, ("randperm",))
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", bool)
    draws = [name for name in DRAWS if hasattr(torch, name)]
    context.part(EarlyDraws).patch(torch, draws, "torch", is_passing=is_compiling)
    for name in ("randperm", *draws):
        register_builtin(torch, getattr(torch, name), name)


def _patch_constructors(module: Any, streams: Streams) -> None:
    """Patch all existing and future module classes."""

    def patch(cls: Any) -> None:
        function = cls.__dict__.get("__init__")
        if type(function) is FunctionType:
            cls.__init__ = Constructor(function, streams)

    def patch_all(cls: Any) -> None:
        for subclass in cls.__subclasses__():
            patch(subclass)
            patch_all(subclass)

    patch_all(module)
    at_subclass(module, patch)


def _patch_initialisers(init: Any, streams: Streams) -> None:
    """Patch the functions of `torch.nn.init`, including names that layers have imported."""
    functions = [
        (name, function)
        for name, function in vars(init).items()
        if type(function) is FunctionType and function.__module__ == init.__name__ and not name.startswith("_")
    ]
    layers = [module for name, module in sys.modules.items() if name.startswith("torch.nn.") and module is not None]
    for name, function in functions:
        initialiser = region(streams, INIT, function)
        for module in layers:
            if vars(module).get(name) is function:
                setattr(module, name, initialiser)


class Forwards:
    """Calls of modules. The outermost one is a region and is passed to observers; nested calls are not.

    Attributes:
        layers: the `Layers` of a trace, told of modules that the running one calls while their outputs are traced.
        at_begin: told of the module, its arguments, its keyword arguments and whether it has weights before an
            outermost call, the constructors' own calls left out.
        at_end: told of the same, with the output before the last, after one that ended well.
    """

    def __init__(self, torch: Any, context: AdapterContext, proof: Proof) -> None:
        self.torch = torch
        self.context = context
        self.streams = context.streams
        self.recorder = context.recorder
        self.is_traced = bool(context.trace.requested_level)
        self.proof = proof
        self.is_in_backward = backward_check(torch)
        self.kinds: dict[int, tuple[Any, str | None, bool]] = {}
        self.at_begin: list[Callable[[Any, Any, Any, bool], object]] = []
        self.at_end: list[Callable[[Any, Any, Any, Any, bool], object]] = []
        self.layers: Any = None

    def patch(self) -> None:
        module, streams, forwards, context = self.torch.nn.Module, self.streams, self, self.context
        original = module.__call__
        is_compiling = getattr(getattr(self.torch, "compiler", None), "is_compiling", bool)

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            # A compiler reads this as a plain call; other threads draw from whatever is in place.
            if is_compiling() or get_ident() != streams.thread:
                return original(self, *args, **kwargs)
            if context.is_inside:
                if forwards.layers is not None:
                    return forwards.layers.call(original, self, args, kwargs)
                return original(self, *args, **kwargs)
            before = forwards.begin(self, args, kwargs)
            context.is_inside = True
            try:
                output = original(self, *args, **kwargs)
            finally:
                context.is_inside = False
                streams.leave(before)
                if forwards.layers is not None:
                    forwards.layers.leave()
                    forwards.layers = None
            if forwards.at_end:
                forwards.end(self, args, kwargs, output)
            return output

        module.__call__ = wraps_like(__call__, original)
        if not self.is_traced:  # what looks at tensors in a compiled part of the program would be compiled with it
            _pass_by(self.torch, __call__.__code__)

    def begin(self, module: Any, args: Any, kwargs: Any) -> str | None:
        """Begin an outermost call; returns the argument of `leave`."""
        try:
            entry = self.kinds.get(id(module))
            if entry is None or entry[0]() is not module:
                entry = self._learn(module)
            # A backward pass computes a part of the forward pass anew, with the state of the generators as it was then.
            if self.is_in_backward():
                return None
            _, stream, has_weights = entry
            if (has_weights or self.at_begin) and self.streams.now != INIT:
                for callback in self.at_begin:
                    callback(module, args, kwargs, has_weights)
                if has_weights:
                    self.proof.forward(module, args, kwargs)
            return None if stream is None else self.streams.enter(stream)
        except Exception as error:
            self.recorder.fault("forward of %s" % type(module).__name__, error)
            return None

    def end(self, module: Any, args: Any, kwargs: Any, output: Any) -> None:
        """End an outermost call without an error; only called if outputs are captured or traced."""
        with self.recorder.guarded("output of %s" % type(module).__name__):
            entry = self.kinds.get(id(module))
            if entry is None or self.is_in_backward() or self.streams.now == INIT:
                return
            for callback in self.at_end:
                callback(module, args, kwargs, output, entry[2])

    def _learn(self, module: Any) -> tuple[Any, str | None, bool]:
        key = id(module)
        has_weights = next(iter(module.parameters()), None) is not None
        stream = DROPOUT if has_weights else _of_weightless(module)
        entry = self.kinds[key] = weakref.ref(module, lambda _: self.kinds.pop(key, None)), stream, has_weights
        return entry


def _pass_by(torch: Any, code: Any) -> None:
    """Make the compiler skip a function outside of compiled code, as it skips those of PyTorch.

    Otherwise it would compile the function again for each type of layer, and warn about too many. Source:
    torch._dynamo.eval_frame.
    """
    frames: Any = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    if hasattr(frames, "skip_code"):  # in earlier versions
        frames.skip_code(code)
    elif hasattr(frames, "set_code_exec_strategy"):
        actions = frames._FrameAction
        frames.set_code_exec_strategy(code, frames._FrameExecStrategy(actions.SKIP, actions.DEFAULT))


def _of_weightless(module: Any) -> str | None:
    """Stream of a module without weights: if it is not entirely PyTorch's own, it is assumed to transform data."""
    classes = [type(part) for part in module.modules()]
    if not all(cls.__module__.startswith("torch.") for cls in classes):
        return AUGMENT
    return DROPOUT if any(name in cls.__name__ for cls in classes for name in DRAWING) else None
