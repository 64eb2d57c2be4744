"""Random numbers that `random.SystemRandom` takes from the operating system; `NumPy` seeds generators with them.

Functions of `os`, `secrets` and `uuid` are recorded by the adapter `system`, generators that the project seeds with
nothing by `Seeding`.
"""

from __future__ import annotations

from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...project import beyond
from .callers import Callers

MODULES = ("random",)
METHODS = ("random", "getrandbits", "randbytes")


def install(module: Any, context: AdapterContext) -> None:
    callers, inputs = context.part(Callers), context.inputs

    def draw(result: object, *args: Any) -> None:
        frame = _getframe(2)
        if inputs.is_active and not _is_recorded_elsewhere(frame):
            inputs.record("entropy", "random.SystemRandom", str(result), callers.place(frame), "random numbers")

    for name in METHODS:
        if name in vars(module.SystemRandom):
            context.observe(module.SystemRandom, name, after=draw, where="random.SystemRandom")


def _is_recorded_elsewhere(frame: FrameType | None) -> bool:
    """Whether a function of `secrets` draws, which is recorded itself."""
    caller = beyond(MODULES, frame)
    return caller is not None and caller.f_globals.get("__name__") == "secrets"
