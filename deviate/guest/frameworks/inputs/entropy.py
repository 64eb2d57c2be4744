"""Random numbers that `random.SystemRandom` takes from the operating system; `NumPy` seeds generators with them.

Functions of `os`, `secrets` and `uuid` are recorded by the adapter `system`, generators that the project seeds with
nothing by `Seeding`.
"""

from __future__ import annotations

from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...project import beyond
from .callers import Callers

MODULES = ("random",)
METHODS = ("random", "getrandbits", "randbytes")


def install(module: Any, context: AdapterContext) -> None:
    callers, inputs = context.part(Callers), context.inputs

    def draw(result: object, *args: Any) -> None:
        place = callers.own_place(beyond(MODULES, _getframe(2)))
        inputs.record("entropy", "random.SystemRandom", str(result), place, "random numbers")

    for name in METHODS:
        if name in vars(module.SystemRandom):
            context.observe(module.SystemRandom, name, after=draw, where="random.SystemRandom")
