"""NumPy: the global generator, and those that scripts make of seeds, seed sequences and bit generators."""

from __future__ import annotations

from ...adapter_context import Guest
from .global_generator import LIBRARY, Generators, attend_draws

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("numpy",)


def attach(module: Any, guest: Guest) -> None:
    random, streams = module.random, guest.streams
    guest.recorder.event("environment", {"numpy": module.__version__})
    if streams.is_active:
        Generators(streams, random)
        attend_draws(random, guest, dir(random.RandomState))
    guest.seeding.override(random, "seed", "numpy.random.seed", LIBRARY)
    if streams.is_active:
        from .project_generators import Own

        Own(guest, random).attend()
    else:
        guest.seeding.override(random, "default_rng", "numpy.random.default_rng", "numpy.default_rng", is_global=False)
