"""Flax: names under which models request keys, regions of model construction and calls, and train states.

linen: `make_rng(name)`; `init` and `apply` are regions. nnx has its own file.
"""

from __future__ import annotations

from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...regions import Region
from ...seeds import wraps_like
from ..jax import Parts
from ..jax.keys import Keys
from .nnx import patch_nnx

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
        keys.is_rehearsal += is_rehearsal
        try:
            return param(self, name, *args, **kwargs)
        finally:
            keys.is_rehearsal -= is_rehearsal

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
