"""The generators of PyTorch: the global ones of host and accelerators, and those that scripts and libraries create.

Each has a state per stream. The calls that seed the global ones are replaced.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import weakref
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...saved_states import SavedStates
from ...seeds import Seeding, wraps_like
from ...split import SPLIT, EarlyDraws
from ...streams import OTHER, STREAMS, Bank, Streams, spell_seed
from .tensors import state_bytes

LIBRARY = "torch"
ACCELERATORS = ("cuda", "xpu", "mps")
WORKERS = "torch.utils.data"
"""A loader worker seeds itself from the loader's base seed: that follows from the stream already."""


def route_generators(torch: Any, context: AdapterContext) -> None:
    streams, override = context.streams, context.seeding.override
    if streams.is_active:
        generators = TorchGenerators(streams, torch)
        for name in ACCELERATORS:
            if _is_there(torch, name):
                Accelerators(streams, getattr(torch, name), "%s.%s" % (LIBRARY, name)).patch()
        Saved(context, torch, generators).patch()
        for owner in (torch, torch.random):
            owner.initial_seed = _initial_seed(owner.initial_seed, generators)
        torch.Generator = generator_class(torch, context)
    for owner in (torch, torch.random):
        override(owner, "manual_seed", "torch.manual_seed", LIBRARY, internal=WORKERS)
        owner.seed = _seedable(owner.seed, torch)
        override(owner, "seed", "torch.seed", LIBRARY)
    for name in ACCELERATORS:
        for function in ("manual_seed", "manual_seed_all"):
            owner, call = getattr(torch, name, None), "torch.%s.%s" % (name, function)
            override(owner, function, call, "%s.%s" % (LIBRARY, name), internal=WORKERS)


class TorchGenerators(Bank):
    """A state per stream, switched in the global generator of the host."""

    def __init__(self, streams: Streams, torch: Any) -> None:
        self.generator = torch.default_generator
        self.new = torch._C.Generator
        super().__init__(streams, LIBRARY)

    def new_state(self, seed: int) -> Any:
        return self.new().manual_seed(seed).get_state()

    def set_state(self, state: Any) -> None:
        self.generator.set_state(state)

    def get_state(self) -> Any:
        return self.generator.get_state()

    def fingerprint(self, state: Any) -> Any:
        return state_bytes(state)


class Accelerators(Bank):
    """The generators of all devices of one kind; states are stored on the host.

    Before the framework initialises the devices, there are no generators, and a state is a seed.
    """

    def __init__(self, streams: Streams, backend: Any, library: str) -> None:
        self.backend = backend
        self.waiting: Any = None
        self.is_ready = False
        self.is_capturing = getattr(backend, "is_current_stream_capturing", bool)
        super().__init__(streams, library)
        self.follows = LIBRARY

    def patch(self) -> None:
        """Route the generators when the devices are initialised; forked processes cannot use them."""
        begin = getattr(self.backend, "_lazy_init", None)
        if begin is None or self.backend.is_initialized():
            self._begin()
        else:

            def lazy_init() -> None:
                begin()
                if self.backend.is_initialized() and not self.is_ready:
                    self.backend._lazy_init = begin
                    self._begin()

            self.backend._lazy_init = wraps_like(lazy_init, begin)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave)

    def _begin(self) -> None:
        self.is_ready = True
        now = self.streams.now
        self.set_state(self.waiting)
        self.marks[now] = self.fingerprint(self.get_state())

    def _leave(self) -> None:
        self.streams.banks = [bank for bank in self.streams.banks if bank is not self]

    def generators(self) -> Any:
        if hasattr(self.backend, "default_generators"):
            return self.backend.default_generators
        return (self.backend._get_default_mps_generator(),)

    def new_state(self, seed: int) -> Any:
        return seed

    def set_state(self, state: Any) -> None:
        if not self.is_ready:
            self.waiting = state
        elif isinstance(state, int):
            for generator in self.generators():
                generator.manual_seed(state)
        else:
            for generator, device_state in zip(self.generators(), state):
                generator.set_state(device_state)

    def get_state(self) -> Any:
        return [generator.get_state() for generator in self.generators()] if self.is_ready else self.waiting

    def fingerprint(self, state: Any) -> Any:
        return None if isinstance(state, int) else [state_bytes(device_state) for device_state in state]

    def switch(self, before: str, now: str) -> None:
        if self.is_ready and self.is_capturing():
            return  # a graph is being captured: its draws happen when it is replayed
        is_new = not isinstance(self.states.get(now), list)
        super().switch(before, now)
        if is_new and self.is_ready:
            self.marks[now] = self.fingerprint(self.get_state())

    def after_seeding(self, now: str) -> None:
        self.set_state(self._state(now))
        super().after_seeding(now)


class Saved:
    """A saved state. Passing it to `set_rng_state` restores the states of all streams."""

    def __init__(self, context: AdapterContext, torch: Any, bank: TorchGenerators) -> None:
        self.context = context
        self.torch = torch
        self.bank = bank
        self.recorded: set[tuple[str, int]] = set()
        self.saved = SavedStates()
        self.is_in_backward = backward_check(torch)

    def patch(self) -> None:
        get_state, set_state = self.torch.get_rng_state, self.torch.set_rng_state

        def get_rng_state() -> Any:
            state = get_state()
            if self._is_outside_regions():
                bank = self.bank
                belongings = (dict(bank.states), dict(bank.marks), dict(bank.script_seeds))
                self.saved.keep(state_bytes(state), belongings)
            return state

        def set_rng_state(new_state: Any) -> None:
            is_outside_regions, saved = self._is_outside_regions(), None
            if is_outside_regions:
                self.bank.note_draws(OTHER)
                saved = self.saved.get(state_bytes(new_state))
            set_state(new_state)
            if saved is not None:
                self.bank.states, self.bank.marks, self.bank.script_seeds = map(dict, saved)
            elif is_outside_regions:
                self._adopt(new_state)
                self._tell(_getframe(1))

        for owner in (self.torch, self.torch.random):
            owner.get_rng_state = wraps_like(get_rng_state, get_state)
            owner.set_rng_state = wraps_like(set_rng_state, set_state)

    def _adopt(self, state: Any) -> None:
        """Key all streams by a state from elsewhere, as processes that are given the same one are to draw the same."""
        text = "state %s" % hashlib.sha256(state_bytes(state)).hexdigest()
        if self.bank.script_seeds.get(OTHER) != text:
            self.bank.before_seeding(text, OTHER)
        self.bank.after_seeding(OTHER)

    def _tell(self, frame: FrameType) -> None:
        place = self.context.project.nearest(frame)
        if place not in self.recorded:
            self.recorded.add(place)
            self.context.recorder.event("uncontrolled", "torch.set_rng_state with a state from elsewhere", *place)

    def _is_outside_regions(self) -> bool:
        """Whether no region is active. A backward pass restores the states of the region that it recomputes."""
        streams = self.context.streams
        return streams.is_routed_thread() and streams.now == OTHER and not self.is_in_backward()


def backward_check(torch: Any) -> Any:
    """A function that returns whether a backward pass is running in this thread."""
    task = getattr(torch._C, "_current_graph_task_id", None)
    return bool if task is None else lambda: task() != -1


def _initial_seed(original: Any, bank: TorchGenerators) -> Any:
    """`torch.initial_seed`, from which scripts and libraries derive seeds: it returns the seed of the script."""

    def initial_seed() -> int:
        seed: int = original()
        return script_seed_of(bank, seed) if bank.streams.is_routed_thread() else seed

    return wraps_like(initial_seed, original)


def _seedable(original: Any, torch: Any) -> Any:
    """`torch.seed`, which uses a random seed, changed to accept one."""

    def seed(seed: Any = None) -> Any:
        if seed is None:
            return original()
        torch.manual_seed(seed)
        return seed

    seedable = wraps_like(seed, original)
    del seedable.__deviate__  # it is overridden later
    return seedable


def _is_there(torch: Any, name: str) -> bool:
    """Whether PyTorch was built for this kind of accelerator."""
    backend = getattr(torch, name, None)
    if name == "mps":
        return bool(getattr(torch._C, "_has_mps", False)) and torch.backends.mps.is_available()
    return hasattr(backend, "_lazy_init") and hasattr(torch._C, "_%s_init" % name)


# ---------------------------------------------------------------- generators of the project

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
    early = context.part(EarlyDraws)
    for name in ("get_state", "set_state", "__reduce__", "__setstate__"):
        setattr(Generator, name, early.at_rest(getattr(Generator, name)))
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

    def get_state(self) -> Any:
        """The state in the current stream, which is remembered with those of the others."""
        bank = self._bank
        state = bank.plain.get_state(self)
        if bank.streams.is_routed_thread():
            bank.note_draws(bank.streams.now)
            bank.saved.keep(state_bytes(state), dict(bank.states))
        return state

    def set_state(self, state: Any) -> Any:
        """Go on from a state. One of another generator, as ranks broadcast it, brings the seed of that one with it."""
        bank, is_from_elsewhere = self._bank, False
        if bank.streams.is_routed_thread() and bank.streams.now in (OTHER, SPLIT) and bank.carries_seeds:
            is_from_elsewhere = carried_seed(state) != bank.plain.initial_seed(self)
        bank.plain.set_state(self, state)
        if is_from_elsewhere:
            seed = carried_seed(state)
            bank.script_seeds.update(dict.fromkeys(STREAMS, None if seed == UNSEEDED else str(seed)))
            bank.forget_streams()
        elif bank.streams.is_routed_thread() and (kept := bank.saved.get(state_bytes(state))) is not None:
            bank.note_draws(bank.streams.now)
            bank.states = {**kept, bank.streams.now: state}
        return self

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
    """A state per stream, switched in one generator as long as it exists.

    States of the host have the script's seed in the place of the initial seed, so that a state tells whose it is.

    Attributes:
        carries_seeds: whether states have a place for it.
    """

    is_random_unseeded = False  # PyTorch begins with a constant

    def __init__(self, seeding: Seeding, generator: Any, plain: Any) -> None:
        self.seeding = seeding
        self.plain = plain
        self.generator = weakref.ref(generator)
        self.device = generator.device
        self.carries_seeds = self.device.type == "cpu"
        self.saved = SavedStates()
        super().__init__(seeding.streams, OWN_LIBRARY)

    def new_state(self, seed: int) -> Any:
        return self.plain(self.device).manual_seed(seed).get_state()

    def set_state(self, state: Any) -> None:
        generator = self.generator()
        if generator is not None:
            self.plain.set_state(generator, state)

    def get_state(self) -> Any:
        generator = self.generator()
        return self.states.get(self.streams.now) if generator is None else self.plain.get_state(generator)

    def fingerprint(self, state: Any) -> Any:
        return state_bytes(state)

    def begin(self, script_seed: str) -> int:
        """Reset all states; returns the seed for the current stream."""
        now = self.streams.now
        self.before_seeding(script_seed, now)
        self.set_state(self._state(now))
        return self.seed_of(now)

    def _state(self, stream: str) -> Any:
        state = super()._state(stream)
        if self.carries_seeds:
            carry_seed(state, self.script_seeds.get(stream))
            self.marks[stream] = self.fingerprint(state)
        return state

    def forget_streams(self) -> None:
        """Go on from the present state, and begin all other streams anew when they are next used."""
        now = self.streams.now
        self.note_draws(now)
        self.states.clear()
        self.marks.clear()
        self.after_seeding(now)

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
    if seed != bank.seed_of(streams.now):
        return seed  # a worker has seeded itself
    try:
        return UNSEEDED if script_seed is None else int(script_seed) % (1 << 64)
    except ValueError:
        return UNSEEDED


# The first eight bytes of a state of the host are the initial seed, from which nothing is drawn. Source:
# `CPUGeneratorImplStateLegacy`, aten/src/ATen/CPUGeneratorImpl.cpp.

SEED_BYTES = 8


def carry_seed(state: Any, script_seed: str | None) -> None:
    """Write the script's seed into a state; a random one, for which there is no number, is left out."""
    if script_seed is None:
        seed = UNSEEDED
    elif script_seed.lstrip("-").isdecimal():
        seed = int(script_seed) % (1 << 64)
    else:
        return
    ctypes.memmove(state.data_ptr(), seed.to_bytes(SEED_BYTES, sys.byteorder), SEED_BYTES)


def carried_seed(state: Any) -> int:
    """The seed in a state of the host."""
    return int.from_bytes(state_bytes(state)[:SEED_BYTES], sys.byteorder)
