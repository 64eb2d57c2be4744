"""TensorFlow: the global seed, from which eager operations without a seed of their own draw theirs."""

from __future__ import annotations

from ..parts import Guest

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("tensorflow",)


def attach(module: Any, guest: Guest) -> None:
    guest.recorder.event("environment", {"tensorflow": module.__version__})
    if guest.seeding.is_active:
        module.random.set_seed(guest.seeding.initial("tensorflow"))
    guest.seeding.override(module.random, "set_seed", "tensorflow.random.set_seed", "tensorflow")
    guest.seeding.override(module.compat.v1, "set_random_seed", "tensorflow.compat.v1.set_random_seed", "tensorflow")
