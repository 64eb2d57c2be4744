"""NumPy: the global generator, and those that scripts make of seeds, seed sequences and bit generators."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...saved_states import remember_states
from ...split import EarlyDraws, always
from ...streams import Bank, Streams

MODULES = ("numpy",)


def install(module: Any, context: AdapterContext) -> None:
    # By import: the attribute of a module that another package imports lazily, as wandb does, is not there yet.
    random, streams = import_module(module.__name__ + ".random"), context.streams
    context.recorder.event("environment", {"numpy": module.__version__})
    if streams.is_active:
        bank = NumPyGenerators(streams, random)
        remember_states(random, "get_state", "set_state", bank, attrgetter("state"), put_state)
        patch_draws(random, context, dir(random.RandomState))
    context.seeding.override(random, "seed", "numpy.random.seed", LIBRARY)
    if streams.is_active:
        from .project_generators import ProjectGenerators

        ProjectGenerators(context, random).patch()
    else:
        context.seeding.override(
            random, "default_rng", "numpy.random.default_rng", "numpy.default_rng", is_global=False
        )


# ---------------------------------------------------------------- the global generator

LIBRARY = "numpy"
STATES = frozenset(("get_state", "set_state"))
NO_DRAWS = STATES | frozenset(("seed", "spawn", "bit_generator"))
"""Methods of generators that draw nothing."""


def put_state(generator: Any, state: Any) -> None:
    generator.state = state


def patch_draws(owner: Any, context: AdapterContext, methods: list[str]) -> None:
    """Patch functions of a module, or methods of a class, that draw from a generator."""
    draws = [name for name in methods if not name.startswith("_") and name not in NO_DRAWS]
    early = context.part(EarlyDraws)
    early.patch(owner, draws, "numpy.random", orders=ORDERS)
    for name in STATES.intersection(methods):
        setattr(owner, name, early.at_rest(getattr(owner, name)))


def _is_subset(*args: Any, **kwargs: Any) -> bool:
    """Whether a choice is without replacement."""
    return not (args[2] if len(args) > 2 else kwargs.get("replace", True))


ORDERS = {"permutation": always, "permuted": always, "shuffle": always, "choice": _is_subset}
"""Methods that order or select examples, and with which arguments."""


class NumPyGenerators(Bank):
    """A bit generator per stream, swapped in the one object behind all functions of the module.

    Normal numbers are generated in pairs, and replacing the bit generator discards the second of a pair.
    """

    def __init__(self, streams: Streams, random: Any) -> None:
        self.shared = random.mtrand._rand
        self.RandomState = random.RandomState
        super().__init__(streams, LIBRARY)

    def new_state(self, seed: int) -> Any:
        return self.RandomState(seed)._bit_generator

    def set_state(self, state: Any) -> None:
        self.now = state
        self.shared.__init__(state)

    def fingerprint(self, state: Any) -> Any:
        inner = state.state["state"]
        return inner["pos"], inner["key"].tobytes()
