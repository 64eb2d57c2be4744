"""Optax: where updates reach the weights. Its noise is drawn from a key of its own, outside of all regions: `other`."""

from __future__ import annotations

import sys

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..seeds import wraps_like
from .jax import parts

MODULES = ("optax",)
IN_PLACE = "flax.nnx"
"""Updates the weights of a model that is known."""


def install(module: Any, context: AdapterContext) -> None:
    context.recorder.event("environment", {"optax": module.__version__})
    original, weights = module.apply_updates, parts().weights

    def apply_updates(*args: Any, **kwargs: Any) -> Any:
        updated = original(*args, **kwargs)
        with context.recorder.guarded("optax.apply_updates"):
            if not str(sys._getframe(1).f_globals.get("__name__")).startswith(IN_PLACE):
                weights.see_update(args[0] if args else kwargs["params"], updated)
        return updated

    module.apply_updates = wraps_like(apply_updates, original)
