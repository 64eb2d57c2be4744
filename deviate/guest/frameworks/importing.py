"""Libraries that draw from a global generator while they are imported; these draws do not belong to the script."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any

MODULES = (
    "jax._src.clusters.k8s_cluster",  # JAX, in every script: how long to wait between attempts
    "rich.style",  # Flax and many more: where to begin to count
)


def prepare(module: Any, context: AdapterContext) -> None:
    """Record the draws so far."""
    for bank in context.streams.banks:
        bank.note_draws(context.streams.now)


def install(module: Any, context: AdapterContext) -> None:
    """Record draws from now on."""
    for bank in context.streams.banks:
        bank.after_seeding(context.streams.now)
