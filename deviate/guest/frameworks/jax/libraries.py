"""Libraries of JAX. Haiku: functions made by `transform` are regions. Optax: detects updates of weights.

Keys of Haiku have no names. The noise of Optax comes from a key of its own outside of all regions: stream `other`.
"""

from __future__ import annotations

import sys
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...regions import Region
from ...seeds import wraps_like
from . import Parts

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

    def region(function: Any, stream: str) -> Any:
        def call_and_route(*args: Any, **kwargs: Any) -> Any:
            with Region(streams, stream):
                if stream != "dropout":
                    return function(*args, **kwargs)

                def call(inputs: Any) -> Any:
                    return function(*args[:3], *inputs, **kwargs)

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
