"""NumPy generators that the project creates: each is replaced by one per stream, keyed by the seed of the script.

A generator draws from a bit generator, which is initialised by a seed or a seed sequence. Whichever of the three the
script creates, the result looks the same, and stands for one per stream. Generators that SciPy and pandas create from a
seed of the project also belong to the project. Other libraries get what they request, and the project line that led
there is recorded: such a seed is fixed in every variant.
"""

from __future__ import annotations

from operator import attrgetter
from sys import _getframe, modules
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...project import beyond
from ...saved_states import read_state, write_state
from ...seeds import wraps_like
from ...split import EarlyDraws
from ...streams import StreamGenerators, derive, spell_seed
from . import LIBRARY, patch_draws, put_state

BIT_GENERATORS = {
    "PCG64": "numpy.default_rng",
    "PCG64DXSM": "numpy.PCG64DXSM",
    "Philox": "numpy.Philox",
    "SFC64": "numpy.SFC64",
    "MT19937": "numpy.MT19937",
}
"""Each with the name that its seeds are derived from. `default_rng(3)` draws what `Generator(PCG64(3))` does."""
FOR_THE_PROJECT = ("scipy.", "pandas.")
"""Libraries that make generators of the seeds which their caller hands to them."""
CHOOSING = "pandas."
"""The one of them that draws to choose examples: `DataFrame.sample(random_state=42)`."""
FOR_ITSELF = ("scipy.optimize._numdiff",)
"""A module of these that makes a generator of a seed of its own."""
WORD = 32
WORDS = 4
POOL_SIZE = 4
"""Size of the pool of a `SeedSequence` that is not told otherwise. Source: `DEFAULT_POOL_SIZE`, numpy/random."""


class Drawers:
    """Generators on top of the bit generators of a project's bit generator, one per stream.

    Args:
        bits: the bit generators, one for each stream.
        make: makes a generator of a bit generator.
    """

    def __init__(self, bits: StreamGenerators, make: Callable[[Any], Any]) -> None:
        self.bits = bits
        self.make = make
        self.generators: dict[int, tuple[Any, Any]] = {}

    def now(self) -> Any:
        """The generator of the current stream."""
        return self._over(self.bits.now())

    def of(self, stream: str) -> Any:
        """The generator of a stream."""
        return self._over(self.bits.of(stream))

    def _over(self, bits: Any) -> Any:
        drawer = self.generators.get(id(bits))
        if drawer is None:  # kept with the bit generator, so that its id is not reused
            drawer = self.generators[id(bits)] = self.make(bits), bits
        return drawer[0]


class ProjectGenerators:
    """Replaces the constructors of NumPy's generators for the project."""

    def __init__(self, context: AdapterContext, random: Any) -> None:
        self.context = context
        self.random = random
        self.SeedSequence = random.SeedSequence
        self.BitGenerator = random.BitGenerator
        self.Generator = random.Generator
        self.RandomState = random.RandomState
        self.RoutedSequence = self._routed_sequence()
        self.RoutedGenerator = self._route_class(random.Generator)
        self.RoutedRandomState = self._route_class(random.RandomState)
        self.routed_bits: dict[str, Any] = {}
        self.placeholder = random.PCG64(0)
        """What generators of the project are made over: they draw from others, and to make one is not to draw."""

    def patch(self) -> None:
        random = self.random
        random.SeedSequence = replacement_class(self.SeedSequence, self._sequence)
        for name in BIT_GENERATORS:
            original = getattr(random, name, None)
            if original is not None:
                self.routed_bits[name] = self._routed_bit_generator(original)
                setattr(random, name, replacement_class(original, self._bits_of(original, name)))
        random.Generator = replacement_class(self.Generator, self._generator)
        random.RandomState = replacement_class(self.RandomState, self._random_state, self._begin_derived)
        random.default_rng = self._default_rng(random.default_rng)
        if hasattr(random, "set_bit_generator"):
            random.set_bit_generator = self._set_bit_generator(random.set_bit_generator)

    # ------------------------------------------------------------ who asks

    def is_own(self, call: str, seed: Any, frame: FrameType) -> bool:
        """Whether the call in this frame is by the project, or by a library on its behalf; others are recorded."""
        seeding, project = self.context.seeding, self.context.project
        is_projects = project.place(frame.f_code) is not None
        if seeding.is_passing():
            if is_projects and not seeding.inside and not self.context.streams.paused and not self._is_told(seed):
                seeding.leave_free("numpy.random.%s in another thread" % call, self._text(seed), frame)
            return False
        if is_projects:
            return True
        name = str(frame.f_globals.get("__name__"))
        if name.startswith(FOR_THE_PROJECT) and not name.startswith(FOR_ITSELF):
            caller = beyond(FOR_THE_PROJECT, frame)
            if caller is not None and project.place(caller.f_code) is not None:
                return True
        if not self._is_told(seed):
            seeding.observe("numpy.random.%s" % call, self._text(seed), frame)
        return False

    def _is_told(self, seed: Any) -> bool:
        """Whether a seed needs no record: it was given to the script earlier, or it is recorded elsewhere."""
        return isinstance(seed, (self.SeedSequence, self.BitGenerator, self.Generator, self.RandomState))

    def key(self, seed: Any) -> str:
        """The key of a seed or seed sequence, from which seeds per stream are derived."""
        if not isinstance(seed, self.SeedSequence):
            return self.context.seeding.key(seed)
        text = spell_seed(seed.entropy)
        if not seed.spawn_key and seed.pool_size == POOL_SIZE:
            return text
        return "%s/%s/%d" % (text, "/".join(map(str, seed.spawn_key)), seed.pool_size)

    def _record(self, call: str, seed: Any) -> None:
        """Record a seed; seed sequences are recorded when they are created."""
        if not self._is_told(seed):
            self.context.seeding.record("numpy.random.%s" % call, seed)

    def _text(self, seed: Any) -> Any:
        return self.key(seed) if isinstance(seed, self.SeedSequence) else seed

    # ------------------------------------------------------------ seed sequences

    def _sequence(self, *args: Any, **kwargs: Any) -> Any:
        entropy = args[0] if args else kwargs.get("entropy")
        if not self.is_own("SeedSequence", entropy, _getframe(2)):
            return self.SeedSequence(*args, **kwargs)
        self._record("SeedSequence", entropy)
        if entropy is None:
            kwargs["entropy"], args = self._entropy(), ()
        return self.RoutedSequence(*args, **kwargs)

    def _entropy(self) -> int:
        """Entropy in place of that of the system."""
        seed = self.context.streams.seed("numpy.SeedSequence", self.context.seeding.key(None))
        return sum(derive(seed, word) << (WORD * word) for word in range(WORDS))

    def _routed_sequence(self) -> Any:
        """A subclass of `SeedSequence` with the script's entropy, whose generated words depend on the variant.

        Spawned sequences have the same type.
        """
        generators, original = self, self.SeedSequence

        def generate_state(self: Any, *args: Any, **kwargs: Any) -> Any:
            twins = self.__dict__.get("_twins")
            if twins is None:
                pool = self.pool_size
                twins = self._twins = StreamGenerators(
                    generators.context.streams,
                    "numpy.SeedSequence",
                    generators.key(self),
                    lambda seed: original(seed, pool_size=pool),
                )
            return twins.now().generate_state(*args, **kwargs)

        def __reduce__(self: Any) -> Any:  # noqa: N807
            names = ("spawn_key", "pool_size", "n_children_spawned")
            return original(self.entropy, **{name: getattr(self, name) for name in names}).__reduce__()

        members = {"generate_state": generate_state, "__reduce__": __reduce__}
        return _like(original, members)

    # ------------------------------------------------------------ bit generators

    def _bits_of(self, original: Any, name: str) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            seed = args[0] if args else kwargs.get("seed")
            if not self.is_own(name, seed, _getframe(2)):
                return original(*args, **kwargs)
            options = {key: value for key, value in kwargs.items() if key != "seed" and value is not None}
            options.update(zip(("counter", "key"), args[1:]))  # of Philox
            self._record(name, options["key"] if seed is None and "key" in options else seed)
            key = self.key(seed) if seed is not None or "key" not in options else ""
            key += "".join(" %s=%s" % (word, spell_seed(value)) for word, value in sorted(options.items()))
            return self._new_bits(name, key, seed, args, kwargs)

        return make

    def _new_bits(self, name: str, key: str, seed: Any, args: tuple[Any, ...], kwargs: Any = None) -> Any:
        """Create a bit generator for the project.

        Args:
            seed: the seed sequence that the script made it of, or its seed.
            args, kwargs: the arguments of the script, which raise where it was wrong.
        """
        routed = self.routed_bits[name]
        is_seeded = seed is not None or kwargs
        bits = routed(*args, **(kwargs or {})) if is_seeded and not isinstance(seed, self.SeedSequence) else routed(0)
        bits._twins = StreamGenerators(self.context.streams, BIT_GENERATORS[name], key, routed.__base__)
        bits._sequence = seed if isinstance(seed, self.SeedSequence) else None
        bits._seed_value = seed
        return bits

    def _routed_bit_generator(self, original: Any) -> Any:
        """A subclass of a bit generator whose instances stand for one bit generator per stream."""
        generators, name = self, original.__name__

        def delegate(attribute: str) -> Any:
            return property(lambda self: getattr(self._twins.now(), attribute))

        def seed_seq(self: Any) -> Any:
            if self._sequence is None:
                seed = self._seed_value
                entropy = generators._entropy() if seed is None else seed
                self._sequence = generators.RoutedSequence(entropy)
            return self._sequence

        def spawn(self: Any, n_children: int) -> list[Any]:
            children = self.seed_seq.spawn(n_children)
            return [generators._new_bits(name, generators.key(child), child, (child,)) for child in children]

        def jumped(self: Any, jumps: int = 1) -> Any:
            return generators._new_bits(name, "%s jumped %d" % (self._twins.key, jumps), self._seed_value, (0,))

        def advance(self: Any, delta: int) -> Any:
            self._twins.now().advance(delta)
            return self

        def legacy(self: Any, seed: Any) -> None:
            self._twins.begin(generators.context.seeding.key(seed))

        members: dict[str, Any] = {
            attribute: delegate(attribute) for attribute in ("capsule", "cffi", "ctypes", "lock")
        }
        at_rest = self.context.part(EarlyDraws).at_rest
        members["state"] = property(
            at_rest(lambda self: read_state(self._twins, attrgetter("state"))),
            at_rest(lambda self, state: write_state(self._twins, state, put_state)),
        )
        members["seed_seq"] = members["_seed_seq"] = property(seed_seq)
        members["spawn"] = spawn
        members["_legacy_seeding"] = legacy
        members["__reduce__"] = at_rest(lambda self: self._twins.now().__reduce__())
        members["__getstate__"] = at_rest(lambda self: self._twins.now().__getstate__())
        some = {"jumped": jumped, "advance": advance}
        members.update((attribute, some[attribute]) for attribute in some if hasattr(original, attribute))
        members["random_raw"] = lambda self, *args, **kwargs: self._twins.now().random_raw(*args, **kwargs)
        return _like(original, members)

    def _set_bit_generator(self, original: Any) -> Any:
        """Replace the global bit generator, keyed by the one that the script sets."""

        def set_bit_generator(bitgen: Any) -> None:
            if not hasattr(bitgen, "_twins") or self.context.seeding.is_passing():
                original(bitgen)
                return
            key = "%s %s" % (bitgen._twins.library, bitgen._twins.key)
            streams = self.context.streams
            seed = self.random.mtrand._rand.seed
            streams.reseed(LIBRARY, key, lambda: seed(streams.seed(LIBRARY, key)))

        return wraps_like(set_bit_generator, original)

    # ------------------------------------------------------------ generators

    def _route_class(self, original: Any) -> Any:
        """A subclass whose methods draw from the generator of the current stream."""
        generators = self

        def method(name: str) -> Any:
            def draw(self: Any, *args: Any, **kwargs: Any) -> Any:
                return getattr(self._twins.now(), name)(*args, **kwargs)

            return draw

        names = [name for name in dir(original) if not name.startswith("_") and callable(getattr(original, name))]
        at_rest = self.context.part(EarlyDraws).at_rest
        members: dict[str, Any] = {name: method(name) for name in names}
        members["__str__"] = lambda self: "%s(%s)" % (original.__name__, _bits_name(self._twins))
        members["__repr__"] = lambda self: "%s at 0x%X" % (self, id(self))
        members["_bit_generator"] = property(lambda self: self._twins.now()._bit_generator)
        members["__reduce__"] = at_rest(lambda self: self._twins.now().__reduce__())
        members["__getstate__"] = at_rest(lambda self: self._twins.now().__getstate__())
        if "spawn" in members:
            members["spawn"] = lambda self, n_children: [
                generators.over(bits) for bits in self.bit_generator.spawn(n_children)
            ]
        if hasattr(original, "bit_generator"):
            members["bit_generator"] = property(lambda self: self._bits)
        else:
            members["seed"] = self._begin_anew
            members["get_state"] = lambda self, legacy=True: read_state(
                self._twins, lambda generator: generator.get_state(legacy)
            )
            members["set_state"] = lambda self, state: write_state(self._twins, state, original.set_state)
        routed = _like(original, members)
        patch_draws(routed, self.context, names)
        return routed

    def over(self, bits: Any) -> Any:
        """A generator of the project on top of one of its bit generators."""
        generator = self.RoutedGenerator(self.placeholder)
        generator._bits = bits
        generator._twins = Drawers(bits._twins, self.Generator)
        return generator

    def _generator(self, *args: Any, **kwargs: Any) -> Any:
        bits: Any = args[0] if args else kwargs.get("bit_generator")
        is_routed = isinstance(bits, self.BitGenerator) and hasattr(bits, "_twins")
        if is_routed and self.is_own("Generator", bits, _getframe(2)):
            return self.over(bits)
        return self.Generator(*args, **kwargs)

    def _default_rng(self, original: Any) -> Any:
        def default_rng(seed: Any = None) -> Any:
            frame = _getframe(1)
            if isinstance(seed, (self.Generator, self.RandomState)) or not self.is_own("default_rng", seed, frame):
                return original(seed)
            if isinstance(seed, self.BitGenerator):
                return self.over(seed) if hasattr(seed, "_twins") else original(seed)
            bits = self._new_bits("PCG64", self.key(seed), seed, (seed,))
            self._record("default_rng", seed)
            return self.over(bits)

        return wraps_like(default_rng, original)

    # ------------------------------------------------------------ generators of old

    def _random_state(self, *args: Any, **kwargs: Any) -> Any:
        seed: Any = args[0] if args else kwargs.get("seed")
        if not self.is_own("RandomState", seed, _getframe(2)):
            return self.RandomState(*args, **kwargs)
        is_over_bits = isinstance(seed, self.BitGenerator)
        if is_over_bits and not hasattr(seed, "_twins"):
            return self.RandomState(*args, **kwargs)
        is_choice = str(_getframe(2).f_globals.get("__name__")).startswith(CHOOSING) and not is_over_bits
        if is_choice and not self.context.part(EarlyDraws).is_training(_getframe(2)):
            return self._make_split_generator(seed)
        if is_over_bits:
            generator = self.RoutedRandomState(self.placeholder)
            generator._twins = Drawers(seed._twins, self.RandomState)
        else:
            generator = self.RoutedRandomState(*args, **kwargs)
            self._record("RandomState", seed)
            generator._twins = self._states(seed)
        return generator

    def _make_split_generator(self, seed: Any) -> Any:
        """Generator for examples that are selected before the training: the script's own if the split is held."""
        streams = self.context.streams
        stream = self.context.part(EarlyDraws).division(_getframe(2), "pandas.sample")
        is_replaced = stream != "split" or stream in streams.varied
        self.context.seeding.record("numpy.random.RandomState", seed, is_replaced=is_replaced)
        streams.tell_drawn("numpy.RandomState", stream)
        return self.RandomState(streams.seed("numpy.RandomState", spell_seed(seed), stream) if is_replaced else seed)

    def _states(self, seed: Any) -> StreamGenerators:
        return StreamGenerators(
            self.context.streams, "numpy.RandomState", self.context.seeding.key(seed), self.RandomState
        )

    @property
    def _begin_anew(self) -> Callable[..., None]:
        """`RandomState.seed`."""
        generators = self

        def seed(self: Any, seed: Any = None) -> None:
            generators.context.seeding.record("numpy.random.RandomState.seed", seed)
            self._twins = generators._states(seed)

        return seed

    def _begin_derived(self, generator: Any, seed: Any = None) -> None:
        """The constructor for subclasses: those of the project get another seed, and a single state."""
        file = getattr(modules.get(type(generator).__module__), "__file__", None)
        is_own = file is not None and self.context.project.file(file) is not None
        if isinstance(seed, self.BitGenerator) or not is_own or self.context.seeding.is_passing():
            self.RandomState.__init__(generator, seed)
            return
        self._record("RandomState", seed)
        streams, key = self.context.streams, self.context.seeding.key(seed)
        streams.tell_drawn("numpy.RandomState", streams.now)
        self.RandomState.__init__(generator, streams.seed("numpy.RandomState", key))


def _bits_name(twins: Any) -> str:
    """Class of the bit generator behind a generator, determined without drawing from it."""
    return str(twins.bits.make.__name__) if isinstance(twins, Drawers) else "MT19937"


def replacement_class(original: Any, make: Callable[..., Any], begin: Callable[..., None] | None = None) -> Any:
    """A class that replaces another one: calling it calls `make`, and instances belong to the original class.

    Args:
        begin: the constructor of classes that are derived from it, called with the instance first.
    """

    class Meta(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return make(*args, **kwargs) if cls is standing else type.__call__(cls, *args, **kwargs)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original) if cls is standing else type.__instancecheck__(cls, instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, original) if cls is standing else type.__subclasscheck__(cls, subclass)

    members: dict[str, Any] = {
        "__doc__": original.__doc__,
        "__module__": "numpy.random",  # where pickle finds it, with the guest and without
        "__qualname__": original.__qualname__,
        "__wrapped__": original,
    }
    if begin is not None:

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            begin(self, *args, **kwargs)

        members["__init__"] = __init__
    standing: Any = Meta(original.__name__, (original,), members)
    return standing


def _like(original: Any, members: dict[str, Any]) -> Any:
    """A subclass with the name of the original."""
    names = {"__module__": original.__module__, "__qualname__": original.__qualname__, "__doc__": original.__doc__}
    return type(original.__name__, (original,), {**members, **names})
