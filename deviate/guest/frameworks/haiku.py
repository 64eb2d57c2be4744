"""Haiku: functions made by `transform` are regions. Its keys have no names."""

from __future__ import annotations

from sys import _getframe

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..regions import Region
from ..seeds import wraps_like
from .jax import Parts

TRANSFORM = "haiku._src.transform"
MODULES = ("haiku", TRANSFORM)


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == "haiku":
        context.recorder.event("environment", {"haiku": module.__version__})
    else:
        _patch(module, context)


def _patch(transform: Any, context: AdapterContext) -> None:
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
