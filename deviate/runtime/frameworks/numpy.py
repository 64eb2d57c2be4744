"""NumPy: the global generator, and those that scripts make with `default_rng` and `RandomState`."""

from __future__ import annotations

from sys import _getframe

from ..parts import Guest
from ..split import Splitting, early_draws_of
from ..streams import Bank, Streams
from ..twins import Twins

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("numpy",)
LIBRARY = "numpy"
PERMUTATIONS = ("permutation", "permuted", "shuffle")
NO_DRAWS = frozenset(("seed", "get_state", "set_state", "spawn", "bit_generator", "choice", *PERMUTATIONS))
"""Methods of generators that draw nothing, and those that are attended to as permutations."""


def attach(module: Any, guest: Guest) -> None:
    random, streams = module.random, guest.streams
    guest.recorder.event("environment", {"numpy": module.__version__})
    if streams.is_active:
        Generators(streams, random)
        _attend(random, guest, dir(random.RandomState))
    guest.seeding.override(random, "seed", "numpy.random.seed", LIBRARY)
    own = Own(guest, random) if streams.is_active else None
    guest.seeding.override(
        random,
        "default_rng",
        "numpy.random.default_rng",
        "numpy.default_rng",
        is_global=False,
        then=own.generator if own else None,
    )
    if own:
        random.RandomState = own.stand_in()


def _attend(owner: Any, guest: Guest, methods: list[str]) -> None:
    """Attend to the functions of a module, or to the methods of a class, that are those of a generator."""
    splitting = Splitting(guest.streams, guest.project)
    splitting.attend(owner, PERMUTATIONS)
    splitting.attend(owner, ("choice",), is_permutation=_is_subset)
    draws = [name for name in methods if not name.startswith("_") and name not in NO_DRAWS and hasattr(owner, name)]
    early_draws_of(guest).attend(owner, draws, "numpy.random")


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


class Own:
    """Generators that the project makes: one for each stream, all keyed by the seed that the script gave."""

    def __init__(self, guest: Guest, random: Any) -> None:
        self.guest = guest
        self.random = random
        self.Generator = self._routed(random.Generator)
        self.RandomState = self._routed(random.RandomState)

    def _routed(self, original: Any) -> Any:
        """A class like the original whose methods draw from a twin for the stream that draws now."""

        def method(name: str) -> Any:
            def draw(self: Any, *args: Any, **kwargs: Any) -> Any:
                return getattr(self._twins.now(), name)(*args, **kwargs)

            return draw

        names = [name for name in dir(original) if not name.startswith("_") and callable(getattr(original, name))]
        members: dict[str, Any] = {name: method(name) for name in names}
        members["bit_generator"] = property(lambda self: getattr(self._twins.now(), "bit_generator", None))
        members["_bit_generator"] = property(lambda self: self._twins.now()._bit_generator)
        members["__reduce__"] = lambda self: self._twins.now().__reduce__()
        members["__getstate__"] = lambda self: self._twins.now().__getstate__()
        members.update(__module__=original.__module__, __qualname__=original.__qualname__, __doc__=original.__doc__)
        routed = type(original.__name__, (original,), members)
        _attend(routed, self.guest, names)
        return routed

    def generator(self, made: Any, key: str) -> Any:
        """What the project gets for a `default_rng` of its own."""
        if type(made) is not self.random.Generator:
            return made
        routed = self.Generator(made.bit_generator)
        routed._twins = Twins(
            self.guest.streams, "numpy.default_rng", key, lambda seed: self.random.Generator(self.random.PCG64(seed))
        )
        return routed

    def stand_in(self) -> Any:
        """A class in place of `RandomState`: libraries get the original, the project one that is routed."""
        original, routed, guest = self.random.RandomState, self.RandomState, self.guest

        def seed(self: Any, seed: Any = None) -> None:
            guest.seeding.record("numpy.random.RandomState.seed", seed)
            self._twins.begin(guest.seeding.key(seed))

        routed.seed = seed

        class Meta(type):
            def __call__(cls, *args: Any, **kwargs: Any) -> Any:
                if cls is not RandomState:
                    return type.__call__(cls, *args, **kwargs)
                asked = args[0] if args else kwargs.get("seed")
                is_own = not hasattr(asked, "capsule") and guest.project.place(_getframe(1).f_code) is not None
                if not is_own or guest.seeding.is_passing():
                    return original(*args, **kwargs)
                guest.seeding.record("numpy.random.RandomState", asked)
                made = routed(*args, **kwargs)
                made._twins = Twins(guest.streams, "numpy.RandomState", guest.seeding.key(asked), original)
                return made

            def __instancecheck__(cls, instance: object) -> bool:
                return isinstance(instance, original) if cls is RandomState else type.__instancecheck__(cls, instance)

            def __subclasscheck__(cls, subclass: type) -> bool:
                return issubclass(subclass, original) if cls is RandomState else type.__subclasscheck__(cls, subclass)

        class RandomState(original, metaclass=Meta):  # type: ignore[misc, valid-type]
            __doc__ = original.__doc__

        RandomState.__module__, RandomState.__qualname__ = original.__module__, original.__qualname__
        RandomState.__wrapped__ = original
        return RandomState
