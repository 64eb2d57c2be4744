"""Python's own generator. Keras draws the seeds of unseeded layers from it."""

from __future__ import annotations

from ..parts import Guest
from ..split import Splitting

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("random",)


def attach(module: Any, guest: Guest) -> None:
    if guest.seeding.is_active:
        module.seed(guest.seeding.initial("random"))
        Splitting(guest.seeding).hold(module, ("shuffle", "sample"), module.Random(guest.seeding.held("random")))
    guest.seeding.override(module, "seed", "random.seed", "random", keyword="a")
