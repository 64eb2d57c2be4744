"""Optax: detects updates of weights. Its noise comes from a key of its own outside of all regions: stream `other`."""

from __future__ import annotations

import sys

from ..adapter_context import AdapterContext
from ..annotations import Any
from .jax import Parts

MODULES = ("optax",)
IN_PLACE = "flax.nnx"
"""Updates the weights of a model that is known."""


def install(module: Any, context: AdapterContext) -> None:
    context.recorder.event("environment", {"optax": module.__version__})
    weights = context.part(Parts).weights

    def apply_updates(updated: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        if not str(sys._getframe(2).f_globals.get("__name__")).startswith(IN_PLACE):
            weights.see_update(params, updated)

    context.observe(module, "apply_updates", after=apply_updates, where="optax.apply_updates")
