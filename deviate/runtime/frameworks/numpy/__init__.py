"""NumPy: the global generator, and those that scripts make of seeds, seed sequences and bit generators."""

from __future__ import annotations

from ...parts import Guest
from ...split import Splitting
from ...streams import Bank, Streams

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("numpy",)
LIBRARY = "numpy"
PERMUTATIONS = ("permutation", "permuted", "shuffle")


def attach(module: Any, guest: Guest) -> None:
    random, streams = module.random, guest.streams
    guest.recorder.event("environment", {"numpy": module.__version__})
    if streams.is_active:
        Generators(streams, random)
        attend_permutations(random, guest)
    guest.seeding.override(random, "seed", "numpy.random.seed", LIBRARY)
    if streams.is_active:
        from .own import Own

        Own(guest, random).attend()
    else:
        guest.seeding.override(random, "default_rng", "numpy.random.default_rng", "numpy.default_rng", is_global=False)


def attend_permutations(owner: Any, guest: Guest) -> None:
    splitting = Splitting(guest.streams, guest.project)
    splitting.attend(owner, PERMUTATIONS)
    splitting.attend(owner, ("choice",), is_permutation=_is_subset)


def _is_subset(*args: Any, **kwargs: Any) -> bool:
    """A choice without replacement."""
    return not (args[2] if len(args) > 2 else kwargs.get("replace", True))


class Generators(Bank):
    """A bit generator for each stream, handed to the one object behind all functions of the module.

    Normal numbers are drawn in pairs, and a change of the bit generator drops the second of a pair.
    """

    def __init__(self, streams: Streams, random: Any) -> None:
        self.shared = random.mtrand._rand
        self.RandomState = random.RandomState
        self.now: Any = None
        super().__init__(streams, LIBRARY)

    def make(self, seed: int) -> Any:
        return self.RandomState(seed)._bit_generator

    def put(self, state: Any) -> None:
        self.now = state
        self.shared.__init__(state)

    def take(self) -> Any:
        return self.now

    def mark(self, state: Any) -> Any:
        inner = state.state["state"]
        return inner["pos"], inner["key"].tobytes()
