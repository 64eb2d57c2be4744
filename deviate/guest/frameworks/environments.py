"""Reinforcement-learning environments of Gymnasium and Gym: seeds are recorded, and no variant replaces them."""

from __future__ import annotations

from sys import _getframe
from types import FrameType

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..seeds import wraps_like

MODULES = ("gymnasium.utils.seeding", "gym.utils.seeding")
ASKING = {"reset": "reset", "seed": "Space.seed"}
"""Methods that hand on a seed, by the names under which they are told."""


def install(module: Any, context: AdapterContext) -> None:
    """Patch the function that creates the generators of all environments and spaces."""
    library, original = module.__name__.partition(".")[0], module.np_random

    def np_random(seed: Any = None) -> Any:
        context.seeding.leave_free("%s.%s" % (library, _asking(library, _getframe(1))), seed, _getframe(1))
        return context.seeding.carry_out(original, (seed,), {})

    module.np_random = wraps_like(np_random, original)


def _asking(library: str, frame: FrameType | None) -> str:
    """The public method that the project called."""
    function = "np_random"
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(library):
        function = ASKING.get(frame.f_code.co_name, function)
        frame = frame.f_back
    return function
