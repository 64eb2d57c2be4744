"""JAX: the root keys a script makes. What is split from a key carries no name and follows it."""

from __future__ import annotations

from ..parts import Guest

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("jax",)


def attach(module: Any, guest: Guest) -> None:
    guest.recorder.event("environment", {"jax": module.__version__})
    for name in ("PRNGKey", "key"):
        guest.seeding.override(module.random, name, "jax.random.%s" % name, "jax")
