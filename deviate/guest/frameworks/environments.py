"""Reinforcement-learning environments of Gymnasium and Gym: the seeds of environments and spaces follow the streams.

Every environment and every space has a generator of its own, made by `np_random(seed)` of the library: for
`env.reset(seed=n)`, for `space.seed(n)`, for each environment of a vector, and without a seed, from entropy of the
system, at the first `reset` or `sample` that needs one. All of these belong to `other`: starting states, what the
environment draws in its steps, and the actions that `action_space.sample()` explores. `generate_random_map` of
FrozenLake makes the task, so it belongs to `split`: its seed is kept unless the split varies.

Environments without a seed are numbered, in each process of an `AsyncVectorEnv` anew.
Source: gymnasium/utils/seeding.py and gymnasium/core.py; without a seed `numpy.random.SeedSequence(None)`.

Environments that draw in C (the Arcade Learning Environment) get the script's seed, which is recorded as fixed.
"""

from __future__ import annotations

import sys
from sys import _getframe
from types import FrameType

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..seeds import wraps_like
from ..streams import OTHER, spell_seed

SEEDING = ".utils.seeding"
LIBRARIES = ("gymnasium", "gym")
MODULES = (*LIBRARIES, *(library + SEEDING for library in LIBRARIES))
RESET, SEED, MAP = "reset", "seed", "generate_random_map"
"""Functions that pass a seed on. Environments of Gym have the second one too, up to version 0.25."""
SPLIT = "split"


def install(module: Any, context: AdapterContext) -> None:
    library, _, name = module.__name__.partition(".")
    if name:
        GymEnvironments(context, library).patch(module)
    else:
        context.recorder.event("environment", {library: module.__version__})


class GymEnvironments:
    """Replaces the function that makes the generators of all environments and spaces of a library."""

    def __init__(self, context: AdapterContext, library: str) -> None:
        self.context = context
        self.streams = context.streams
        self.library = library
        self.unseeded = 0

    def patch(self, module: Any) -> None:
        original, context = module.np_random, self.context

        def np_random(seed: Any = None) -> Any:
            seeded = seed
            with context.recorder.guarded("np_random of %s" % self.library):
                seeded = self.choose_seed(seed, _getframe(1))
            generator, chosen = context.seeding.carry_out(original, (seeded,), {})
            return generator, chosen if seed is None else seed

        module.np_random = wraps_like(np_random, original)

    def choose_seed(self, seed: Any, frame: FrameType) -> Any:
        """The seed from which the library should make a generator; what it would refuse stays as it is."""
        functions, n_spaces = self._callers(frame)
        call = "%s.%s" % (self.library, functions[-1] if functions else "np_random")
        if seed is not None and not (isinstance(seed, int) and seed >= 0):
            return seed
        if not self.streams.is_routed_thread():
            self.context.seeding.leave_free(call, seed, frame)
            return seed
        stream = SPLIT if MAP in functions else OTHER
        is_replaced = stream != SPLIT or seed is None or SPLIT in self.streams.varied
        # A space of several parts seeds these with numbers that it draws.
        is_script_seed = seed is not None and n_spaces <= 1
        if is_script_seed and self.context.project.innermost(frame) is not None:
            self.context.seeding.record(call, seed, is_replaced=is_replaced)
        if not self.streams.is_active:
            return seed
        self.streams.tell_drawn(self.library, stream)
        if not is_replaced:
            return seed
        return self.streams.seed(self.library, self._key() if seed is None else spell_seed(seed), stream)

    def _key(self) -> str:
        """The number of an environment without a seed, and that of its process among those that its parent started."""
        self.unseeded += 1
        processes: Any = sys.modules.get("multiprocessing.process")
        identity = processes.current_process()._identity if processes is not None else ()
        return "-".join(map(str, ("none", *identity, self.unseeded)))

    def _callers(self, frame: FrameType | None) -> tuple[list[str], int]:
        """Functions of the library that pass a seed on, from the innermost outwards; how many objects `seed` is of."""
        functions, seeded = [], set()
        while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == self.library:
            name = frame.f_code.co_name
            if name == SEED:
                owner = frame.f_locals.get("self")
                seeded.add(id(owner))
                functions.append("Space.seed" if hasattr(owner, "sample") else SEED)
            elif name in (RESET, MAP):
                functions.append(name)
            frame = frame.f_back
        return functions, len(seeded)
