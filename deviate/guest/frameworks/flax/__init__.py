"""Flax: names under which models request keys, regions of model construction and calls, and train states.

linen: `make_rng(name)`; `init` and `apply` are regions. nnx: named key streams, constructors and calls of modules, and
models that an optimizer updates.
"""

from __future__ import annotations

import sys
from sys import _getframe
from types import FunctionType

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any
from ...regions import Held, Region
from ...seeds import wraps_like
from ..jax import Parts
from ..jax.keys import Keys

if TYPE_CHECKING:
    from .nnx_capture import NnxCapture

CORE, STATE, NNX = "flax.core", "flax.training.train_state", "flax.nnx"
MODULES = ("flax", CORE, STATE, NNX)


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == "flax":
        context.recorder.event("environment", {"flax": module.__version__})
    elif module.__name__ == CORE:
        _patch_scopes(module, context, context.part(Parts))
    elif module.__name__ == STATE:
        _patch_states(module.TrainState, context.part(Parts))
    else:
        patch_nnx(module, context, context.part(Parts))


def _patch_scopes(core: Any, context: AdapterContext, jax_parts: Parts) -> None:
    """Patch `flax.core.apply`, through which all linen models and functions on scopes run."""
    original, streams, weights = core.scope.apply, context.streams, jax_parts.weights

    def apply(fn: Any, mutable: Any = False, flags: Any = None) -> Any:
        init_or_apply = original(fn, mutable, flags)
        is_init = bool(flags and flags.get("initializing"))

        def apply_and_route(variables: Any, *args: Any, **kwargs: Any) -> Any:
            with Region(streams, "init" if is_init else "dropout"):
                if is_init:
                    return init_or_apply(variables, *args, **kwargs)

                def call(inputs: Any) -> Any:
                    return init_or_apply(variables, *inputs, **kwargs)

                return weights.call_model(call, variables, args, dict(kwargs, mutable=mutable), _getframe(1))

        return wraps_like(apply_and_route, init_or_apply)

    core.scope.apply = core.apply = wraps_like(apply, original)
    if jax_parts.keys is not None:
        _patch_names(core.scope.Scope, jax_parts.keys)


def _patch_names(scope: Any, keys: Keys) -> None:
    make_rng, param = scope.make_rng, scope.param

    def make_named_rng(self: Any, name: str = "params") -> Any:
        return keys.mark_key(make_rng(self, name), name)

    def param_or_shape(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        """An existing weight is initialised again only to check its shape."""
        is_rehearsal = self.has_variable("params", name)
        with Held(keys, "is_rehearsal", keys.is_rehearsal + is_rehearsal):
            return param(self, name, *args, **kwargs)

    scope.make_rng = wraps_like(make_named_rng, make_rng)
    scope.param = wraps_like(param_or_shape, param)


def _patch_states(train_state: Any, jax_parts: Parts) -> None:
    """Patch train states, which receive the weights once, before the first step."""
    original = train_state.__dict__["create"].__func__

    def create(cls: Any, **kwargs: Any) -> Any:
        if "params" in kwargs:
            kwargs["params"] = jax_parts.bit.flip(kwargs["params"])
        return original(cls, **kwargs)

    train_state.create = classmethod(wraps_like(create, original))


# ---------------------------------------------------------------- nnx

DRAWING = {"rngs_random_method", "rngs_keyless_initializer"}
"""What draws in the module of the streams. All else there makes streams from streams: the key is kept, as it is."""


def patch_nnx(nnx: Any, context: AdapterContext, jax_parts: Parts) -> None:
    capture = None
    if context.capture.wants_predictions:
        from .nnx_capture import NnxCapture  # most runs keep nothing

        capture = NnxCapture(jax_parts.weights.capture)
        capture.patch(nnx, context)
    if jax_parts.keys is not None:
        _patch_key_streams(sys.modules["flax.nnx.rnglib"], jax_parts.keys)
    if jax_parts.keys is not None or capture is not None:
        _patch_modules(nnx.Module, context, capture)
    _patch_optimizers(nnx, jax_parts, capture)
    if jax_parts.trace is not None:
        from .trace import NnxTrace  # most runs are not traced

        NnxTrace(jax_parts.trace, jax_parts.weights).patch(nnx.Optimizer)


def _patch_key_streams(rnglib: Any, keys: Keys) -> None:
    """Patch `rngs.dropout()`: the name of the stream, or the requested one if `default` takes its place."""
    request: dict[str, Any] = {}
    stream, rngs = rnglib.RngStream, rnglib.Rngs
    call = stream.__call__

    def __call__(self: Any) -> Any:  # noqa: N807
        name = request.pop("name", None)
        if request.pop("stream", None) is not self or name is None:
            name = getattr(self, "tag", None) or self.key.tag
        key = call(self)
        caller = sys._getframe(1)
        is_kept = caller.f_globals.get("__name__") == rnglib.__name__ and caller.f_code.co_name not in DRAWING
        return key if is_kept else keys.mark_key(key, name)

    def patch(name: str) -> None:
        original = getattr(rngs, name)

        def ask(self: Any, name: str) -> Any:
            answer = original(self, name)
            if isinstance(answer, stream):
                request.update(name=name, stream=answer)
            return answer

        setattr(rngs, name, wraps_like(ask, original))

    stream.__call__ = wraps_like(__call__, call)
    patch("__getattr__")
    patch("__getitem__")


def _patch_modules(module: Any, context: AdapterContext, capture: NnxCapture | None) -> None:
    """Constructors draw from `init`, calls from `dropout`, as in all libraries."""
    streams, meta = context.streams, type(module)
    name = "_pytree_meta_construct" if hasattr(meta, "_pytree_meta_construct") else "_object_meta_construct"
    construct = getattr(meta, name)

    def construct_and_route(cls: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(self, module):
            return construct(cls, self, *args, **kwargs)
        with Region(streams, "init"):
            return construct(cls, self, *args, **kwargs)

    def patch(cls: Any) -> None:
        original = cls.__dict__.get("__call__")
        if type(original) is not FunctionType or hasattr(original, "__deviate__"):
            return

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            with Region(streams, "dropout"):
                if capture is not None:
                    return capture.call_module(original, self, args, kwargs, sys._getframe(1))
                return original(self, *args, **kwargs)

        cls.__call__ = wraps_like(__call__, original)

    owner = next(cls for cls in module.__mro__ if "__init_subclass__" in cls.__dict__)
    begin = owner.__dict__["__init_subclass__"]

    def __init_subclass__(cls: Any, **kwargs: Any) -> None:  # noqa: N807
        begin.__get__(None, cls)(**kwargs)
        if issubclass(cls, module):
            patch(cls)

    setattr(meta, name, wraps_like(construct_and_route, construct))
    owner.__init_subclass__ = classmethod(wraps_like(__init_subclass__, begin.__func__))
    waiting = [module]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        patch(cls)


def _patch_optimizers(nnx: Any, jax_parts: Parts, capture: NnxCapture | None) -> None:
    """A model that an optimizer is created for is trained in place, at least outside of compiled functions."""
    original, recorder = nnx.Optimizer.__init__, jax_parts.weights.recorder

    def __init__(self: Any, model: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        chosen = kwargs.get("wrt", args[1] if len(args) > 1 else nnx.Param)

        def weights_of(model: Any) -> Any:
            return nnx.state(model, chosen)

        def flip() -> None:
            nnx.update(model, jax_parts.bit.flip(weights_of(model)))

        recorder.tell([flip] if jax_parts.bit.one_bit.is_pending else [])  # before the optimizer reads it
        original(self, model, *args, **kwargs)
        jax_parts.weights.model(model, weights_of)
        if capture is not None:
            capture.model(model, weights_of)

    nnx.Optimizer.__init__ = wraps_like(__init__, original)
