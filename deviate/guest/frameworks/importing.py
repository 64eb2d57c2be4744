"""Libraries that draw from a global generator while they are imported: nothing of what is drawn is the script's."""

from __future__ import annotations

from ..adapter_context import AdapterContext
from ..annotations import Any

MODULES = (
    "jax._src.clusters.k8s_cluster",  # JAX, in every script: how long to wait between attempts
    "rich.style",  # Flax and many more: where to begin to count
)


def prepare(module: Any, context: AdapterContext) -> None:
    """Note what was drawn so far."""
    for bank in context.streams.banks:
        bank.note_draws(context.streams.now)


def install(module: Any, context: AdapterContext) -> None:
    """Look for draws from here on."""
    for bank in context.streams.banks:
        bank.after_seeding(context.streams.now)
