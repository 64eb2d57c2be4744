"""Python's global generator, and those that scripts create with `random.Random`. Keras draws layer seeds from it."""

from __future__ import annotations

import os
from sys import _getframe

from ..adapter_context import AdapterContext
from ..annotations import Any
from ..saved_states import read_state, remember_states, write_state
from ..seeds import wraps_like
from ..split import EarlyDraws, always
from ..streams import OTHER, Bank, StreamGenerators, Streams

MODULES = ("random",)
LIBRARY, OWN = "random", "random.Random"
DRAWS = (
    "random", "uniform", "triangular", "randint", "randrange", "choice", "choices", "gauss", "normalvariate",
    "lognormvariate", "expovariate", "vonmisesvariate", "gammavariate", "betavariate", "paretovariate",
    "weibullvariate", "binomialvariate", "getrandbits", "randbytes",
)  # fmt: skip
"""Functions that draw, those for permutations left out."""


def install(module: Any, context: AdapterContext) -> None:
    streams = context.streams
    if streams.is_active:
        generators = PythonGenerators(streams, module)
        for name in dir(module):
            if getattr(getattr(module, name), "__self__", None) is module._inst:
                setattr(module, name, generators.route(name))
        remember_states(module, "getstate", "setstate", generators, module.Random.getstate, module.Random.setstate)
        _route_draws(module, LIBRARY, context)
        _follow_forks(streams, generators)
    context.seeding.override(module, "seed", "random.seed", LIBRARY, keyword="a")
    if streams.is_active:
        _route_own(module, context)


def _route_draws(owner: Any, library: str, context: AdapterContext) -> None:
    early = context.part(EarlyDraws)
    early.patch(owner, DRAWS, library, orders={"shuffle": always, "sample": always})
    for name in ("getstate", "setstate", "__reduce__"):
        if name in vars(owner):
            setattr(owner, name, early.at_rest(getattr(owner, name)))


class PythonGenerators(Bank):
    """One generator per stream. States are too large to be swapped, so each function selects the generator."""

    def __init__(self, streams: Streams, module: Any) -> None:
        self.module = module
        super().__init__(streams, LIBRARY)

    def new_state(self, seed: int) -> Any:
        return self.module.Random(seed)

    def fingerprint(self, state: Any) -> Any:
        return state.getstate()

    def _state(self, stream: str) -> Any:
        if stream != OTHER:
            return super()._state(stream)
        # Code that uses the module's hidden generator object directly is not routed.
        module_generator = self.states[OTHER] = self.module._inst
        module_generator.seed(self.seed_of(OTHER))
        self.marks[OTHER] = self.fingerprint(module_generator)
        return module_generator

    def route(self, name: str) -> Any:
        """The module function, drawing from the generator of the current stream."""

        def function(*args: Any, **kwargs: Any) -> Any:
            return getattr(self.now, name)(*args, **kwargs)

        return function if name == "seed" else wraps_like(function, getattr(self.module, name))


def _follow_forks(streams: Streams, generators: PythonGenerators) -> None:
    """Forked processes: Python reseeds them from the system; here they are keyed by the number of the fork."""
    forks = 0

    def count() -> None:
        nonlocal forks
        forks += 1

    def begin_anew() -> None:
        key = "fork-%d" % forks
        streams.reseed(LIBRARY, key, lambda: generators.now.seed(streams.seed(LIBRARY, key)))

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=count, after_in_child=begin_anew)


def _route_own(module: Any, context: AdapterContext) -> None:
    """Route generators that the project creates, and record those that cannot be seeded."""
    streams, seeding, project = context.streams, context.seeding, context.project
    original, routed, begin_anew = module.Random.__init__, _routed_class(module, context), module.Random.seed

    def __init__(self: Any, x: Any = None) -> None:  # noqa: N807
        original(self, x)
        if not streams.is_routed_thread():
            return
        frame = _getframe(1)
        if project.place(frame.f_code) is None:
            if x is not None and type(self) is module.Random:
                seeding.observe(OWN, x, frame)
        elif isinstance(self, module.SystemRandom):
            context.recorder.event("uncontrolled", "random.SystemRandom", *project.nearest(frame))
        elif type(self) is module.Random:
            seeding.record(OWN, x)
            self._twins = StreamGenerators(streams, OWN, seeding.key(x), module.Random)
            self.__class__ = routed
        else:  # a subclass of the project, which may override draws, has a single state
            seeding.record(OWN, x)
            streams.tell_drawn(OWN, streams.now)
            begin_anew(self, streams.seed(OWN, seeding.key(x)))

    module.Random.__init__ = wraps_like(__init__, original)


def _routed_class(module: Any, context: AdapterContext) -> Any:
    """A subclass of `Random` for the project's generators: one per stream, keyed by the script's seed."""
    seeding = context.seeding

    class Routed(module.Random):  # type: ignore[misc]
        """Draws from the generator of the current stream. All methods of the class use these two."""

        _twins: StreamGenerators

        def random(self) -> float:
            drawn: float = self._twins.now().random()
            return drawn

        def getrandbits(self, k: int) -> int:
            bits: int = self._twins.now().getrandbits(k)
            return bits

        def seed(self, a: Any = None, version: int = 2) -> None:
            """Reset the generator, keyed by another seed."""
            seeding.record("random.Random.seed", a)
            self._twins.begin(seeding.key(a))

        def getstate(self) -> Any:
            return read_state(self._twins, module.Random.getstate)

        def setstate(self, state: Any) -> None:
            write_state(self._twins, state, module.Random.setstate)

        def __reduce__(self) -> Any:
            return module.Random, (), self._twins.now().getstate()

    Routed.__name__, Routed.__qualname__, Routed.__module__ = "Random", "Random", "random"
    _route_draws(Routed, OWN, context)
    return Routed
