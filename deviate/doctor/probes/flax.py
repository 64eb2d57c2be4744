"""Facts of Flax: the places where it names the keys that a model asks for."""

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
