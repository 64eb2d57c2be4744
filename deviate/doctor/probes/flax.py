"""Facts about Flax: the functions in which it names the keys that models request."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = {
    "init": ["core.scope.Scope.make_rng", "linen.Module.init"],
    "dropout": ["core.scope.Scope.make_rng"],
}


def look(flax: Any, notes: Any) -> None:
    notes.attempt("has_nnx", lambda: hasattr(importlib.import_module("flax.nnx"), "Rngs"))
