"""Libraries of JAX. Haiku: functions made by `transform` are regions. Optax: detects updates of weights.

Keys of Haiku have no names. The noise of Optax comes from a key of its own outside of all regions: stream `other`.
"""

from __future__ import annotations

import sys
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any
from ...regions import Held, Region
from ...seeds import wraps_like
from . import Parts

if TYPE_CHECKING:
    from .trace import JaxTrace

TRANSFORM = "haiku._src.transform"
MODULES = ("haiku", TRANSFORM, "optax")
IN_PLACE = "flax.nnx"
"""Updates the weights of a model that is known."""


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == TRANSFORM:
        _patch_haiku(module, context)
        return
    context.recorder.event("environment", {module.__name__: module.__version__})
    if module.__name__ == "optax":
        _patch_optax(module, context)


def _patch_haiku(transform: Any, context: AdapterContext) -> None:
    """Patch the function that all variants of `transform` call."""
    original, streams, weights = transform.transform_with_state, context.streams, context.part(Parts).weights
    probes = context.part(Parts).methods

    def region(function: Any, stream: str) -> Any:
        def call_and_route(*args: Any, **kwargs: Any) -> Any:
            with Region(streams, stream):
                if stream != "dropout":
                    return function(*args, **kwargs)

                def call(inputs: Any) -> Any:
                    if probes is None:
                        return function(*args[:3], *inputs, **kwargs)
                    return probes.run(lambda: function(*args[:3], *inputs, **kwargs), "haiku")

                return weights.call_model(call, args[:2], args[3:], kwargs, _getframe(1))

        call_and_route.__dict__.update(function.__dict__)
        return wraps_like(call_and_route, function)

    def transform_with_state(*args: Any, **kwargs: Any) -> Any:
        transformed = original(*args, **kwargs)
        return transformed._replace(init=region(transformed.init, "init"), apply=region(transformed.apply, "dropout"))

    transform.transform_with_state = wraps_like(transform_with_state, original)


def _patch_optax(module: Any, context: AdapterContext) -> None:
    weights = context.part(Parts).weights

    def apply_updates(updated: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        if not str(sys._getframe(2).f_globals.get("__name__")).startswith(IN_PLACE):
            weights.see_update(params, updated)

    context.observe(module, "apply_updates", after=apply_updates, where="optax.apply_updates")
    jax_trace = context.part(Parts).trace
    if jax_trace is not None and jax_trace.probes.is_wanted:
        _probe_optimizers(module.GradientTransformation, jax_trace)


def _probe_optimizers(transformation: Any, jax_trace: JaxTrace) -> None:
    """Probes in the gradients that an optimizer receives; it may consist of others, which receive them from it."""
    original, probes = transformation.__new__, jax_trace.probes

    def __new__(cls: Any, init: Any, update: Any) -> Any:  # noqa: N807
        return original(cls, init, wraps_like(lambda *args, **kwargs: call(update, *args, **kwargs), update))

    def call(update: Any, *args: Any, **kwargs: Any) -> Any:
        if not probes.is_open or probes.is_updating or not args:
            return update(*args, **kwargs)
        place = jax_trace.trace.place(sys._getframe(2))
        with Held(probes, "is_updating", True):
            return update(probes.tree(args[0], place), *args[1:], **kwargs)

    transformation.__new__ = wraps_like(__new__, original)
