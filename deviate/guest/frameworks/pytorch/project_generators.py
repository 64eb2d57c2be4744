"""Generators that scripts and libraries create with `torch.Generator`; each has a state per stream."""

from __future__ import annotations

import weakref
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...seeds import Seeding
from ...streams import Bank, spell_seed
from .tensors import state_bytes

OWN_LIBRARY = "torch.Generator"
UNSEEDED = 67280421310721
"""Seed of a generator that nobody has seeded. Source: `c10::detail::default_rng_seed_val`, c10/core/GeneratorImpl.h."""


def generator_class(torch: Any, context: AdapterContext) -> Any:
    """A class that replaces `torch.Generator`, whose own methods cannot be replaced."""
    original, streams = torch._C.Generator, context.streams

    class Meta(type(original)):  # type: ignore[misc]
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            # What PyTorch makes for its own purposes, it seeds from what is routed.
            caller = str(_getframe(1).f_globals.get("__name__"))
            if cls is Generator and (caller.startswith("torch.") or not streams.is_routed_thread()):
                return original(*args, **kwargs)
            generator = super().__call__(*args, **kwargs)
            generator._bank = GeneratorBank(context.seeding, generator, original)
            return generator

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original) if cls is Generator else type.__instancecheck__(cls, instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, original) if cls is Generator else type.__subclasscheck__(cls, subclass)

    class Generator(Routed, original, metaclass=Meta):  # type: ignore[misc, valid-type]
        __doc__ = original.__doc__

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"  # where pickle finds it
    return Generator


class Routed:
    """Methods that differ for generators of the script. Draws use the current state, which the bank switches."""

    _bank: GeneratorBank
    device: Any

    def manual_seed(self, seed: Any) -> Any:
        """Reset the generator, keyed by another seed."""
        bank = self._bank
        if not bank.streams.is_routed_thread():
            return bank.plain.manual_seed(self, seed)
        bank.plain(self.device).manual_seed(seed)  # an invalid seed raises
        bank.seeding.record("torch.Generator.manual_seed", seed)
        bank.begin(spell_seed(seed))
        return self

    def seed(self) -> Any:
        """Reset the generator with a random seed; it is replaced by the seed for unseeded generators."""
        bank = self._bank
        if not bank.streams.is_routed_thread():
            return bank.plain.seed(self)
        bank.seeding.record("torch.Generator.seed", None)
        return bank.begin(bank.seeding.key(None))

    def initial_seed(self) -> int:
        """The seed that the script set."""
        return script_seed_of(self._bank, self._bank.plain.initial_seed(self))

    def clone_state(self) -> Any:
        """Another generator that will draw the same numbers."""
        generator_type: Any = type(self)
        copy = generator_type(self.device)
        if hasattr(copy, "_bank"):
            copy._bank.like(self._bank)
        else:
            copy.set_state(self._bank.get_state())
        return copy

    def __deepcopy__(self, memo: Any) -> Any:
        return self.clone_state()

    def __reduce__(self) -> Any:
        bank = self._bank
        plain = bank.plain(self.device)
        plain.set_state(bank.get_state())
        return plain.__reduce__()

    def __del__(self) -> None:
        try:
            self._bank.end()
        except Exception:  # the interpreter may be shutting down
            pass


class GeneratorBank(Bank):
    """A state per stream, switched in one generator as long as it exists."""

    def __init__(self, seeding: Seeding, generator: Any, plain: Any) -> None:
        self.seeding = seeding
        self.plain = plain
        self.generator = weakref.ref(generator)
        self.device = generator.device
        super().__init__(seeding.streams, OWN_LIBRARY)

    def new_state(self, seed: int) -> Any:
        return self.plain(self.device).manual_seed(seed).get_state()

    def set_state(self, state: Any) -> None:
        generator = self.generator()
        if generator is not None:
            generator.set_state(state)

    def get_state(self) -> Any:
        generator = self.generator()
        return self.states.get(self.streams.now) if generator is None else generator.get_state()

    def fingerprint(self, state: Any) -> Any:
        return state_bytes(state)

    def begin(self, script_seed: str) -> int:
        """Reset all states; returns the seed for the current stream."""
        now = self.streams.now
        self.before_seeding(script_seed, now)
        seed = self.streams.seed(OWN_LIBRARY, script_seed)
        self.plain.manual_seed(self.generator(), seed)
        self.after_seeding(now)
        return seed

    def like(self, other: GeneratorBank) -> None:
        """Copy the states of another bank."""
        other.note_draws(self.streams.now)
        self.script_seeds, self.states, self.marks = dict(other.script_seeds), dict(other.states), dict(other.marks)
        self.set_state(self.states[self.streams.now])

    def end(self) -> None:
        """The generator is deleted."""
        self.note_draws(self.streams.now)
        # A new list, as another thread may be iterating over the old one.
        self.streams.banks = [bank for bank in self.streams.banks if bank is not self]


def script_seed_of(bank: Bank, seed: int) -> int:
    """The seed that the script set, for a seed that replaced it."""
    streams, script_seed = bank.streams, bank.script_seeds.get(bank.streams.now)
    if seed != streams.seed(bank.library, script_seed):
        return seed  # a worker has seeded itself
    try:
        return UNSEEDED if script_seed is None else int(script_seed) % (1 << 64)
    except ValueError:
        return UNSEEDED
