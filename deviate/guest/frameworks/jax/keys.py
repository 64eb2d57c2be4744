"""JAX: which stream a draw follows. Keys stay what the script made them; each draw mixes the seed of a stream in.

A key says nothing of what it is for, and neither do those that are split from it. The call that draws from it does, and
what draws for another stream meanwhile cannot move it, for the key itself never changes. A draw's stream is told by

1. the name under which a library handed the key out ("params", "dropout"): the key is marked with it, and so is all
   that is split from it;
2. the library that draws (an initializer, a layer for dropout);
3. the region in which the draw is made: a constructor, a forward pass;
4. for permutations that the project draws outside of all regions, whether it does so in its main loop.

All others are `other`. In a compiled function a draw is made when it is traced; programs.py sees to it that one that
is called in another region, or in the main loop as well as before it, is traced again.
"""

from __future__ import annotations

import inspect
import sys
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...seeds import wraps_like
from ...split import EarlyDraws
from ...streams import OTHER
from .programs import REGION, TRAINING, Programs

LIBRARY = "jax"
NO_SAMPLERS = {"PRNGKey", "key", "key_data", "key_dtype", "key_impl", "wrap_key_data", "split", "fold_in", "clone"}
DRAWING = {
    "jax._src.nn.initializers": "init",
    "haiku._src.initializers": "init",
    "flax.linen.stochastic": "dropout",
    "flax.nnx.nn.stochastic": "dropout",
    "jax.example_libraries.stax": "dropout",
}
"""Modules that draw for one purpose only."""
ELSEWHERE = "keras.src.backend.jax.random"
"""Draws from seeds that are of a stream already."""
BETWEEN = "flax.nnx.rnglib"
"""Draws on behalf of its caller: `rngs.permutation(n)`."""
WORDS = (
    ("params", "init"),
    ("init", "init"),
    ("dropout", "dropout"),
    ("drop_path", "dropout"),
    ("droppath", "dropout"),
    ("stochastic_depth", "dropout"),
    ("augment", "augment"),
    ("shuffle", "shuffle"),
    ("permut", "shuffle"),
)
"""What in the name of a key tells its stream."""


def stream_of(name: object) -> str | None:
    """Stream of the keys that a model asks for under a name.

    None where the name tells nothing ("default", "noise", "sample", "carry" …), so that the region does.
    """
    text = str(name).lower()
    return next((stream for word, stream in WORDS if word in text), None)


class Keys:
    """Samplers of `jax.random`, keyed by stream for each draw; keys handed out under a name are marked with it."""

    def __init__(self, jax: Any, context: AdapterContext, programs: Programs) -> None:
        self.random = jax.random
        self.streams = context.streams
        self.early = context.part(EarlyDraws)
        self.programs = programs
        self.jit = jax.jit
        # Compiled, as operations on keys would take five times as long as the draw if executed individually.
        self.fold = jax.jit(jax.random.fold_in, inline=True)
        self.core = _home(jax.random.normal).get("__name__")
        self.marks: dict[str, tuple[str, Any, Callable[[Any, Any], Any]]] = {}
        self.markers: dict[tuple[str, str], Callable[[Any], Any]] = {}
        self.seeds: dict[str, Any] = {}
        self.drawn = self.streams.drawn.setdefault(LIBRARY, set())
        self.is_rehearsal = 0
        """Above zero while a library draws to learn a shape."""

    # ------------------------------------------------------------ draws

    def patch(self) -> None:
        """Replace all samplers, including the names under which libraries and other samplers call them."""
        for name in dir(self.random):
            original = getattr(self.random, name)
            if not name.startswith("_") and name not in NO_SAMPLERS and _first_parameter(original) == "key":
                sampler = self._keyed_sampler(name, original)
                owners = [vars(module) for module in _modules(original)]
                for names in (vars(self.random), _home(original), *owners):
                    if names.get(name) is original:
                        names[name] = sampler

    def _keyed_sampler(self, name: str, original: Any) -> Any:
        core, derive_key, fault = self.core, self.derive_key, self.streams.recorder.fault

        def sampler(*args: Any, **kwargs: Any) -> Any:
            frame = sys._getframe(1)
            if frame.f_globals.get("__name__") in (core, ELSEWHERE):  # one that another one calls has its key keyed
                return original(*args, **kwargs)
            try:
                key = derive_key(name, args, kwargs, frame)
            except Exception as error:
                draw = original(*args, **kwargs)  # raises if the script's arguments are invalid
                fault("jax.random.%s" % name, error)
                return draw
            return original(key, *args[1:], **kwargs) if args else original(**dict(kwargs, key=key))

        return wraps_like(sampler, original)

    def derive_key(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Any:
        """The key that is used for a draw by the sampler of this name."""
        key = args[0] if args else kwargs["key"]
        mark = self.marks.get(_name_of_kind(key))
        stream = mark[0] if mark else self.stream(frame, name, is_permutation=_is_permutation(name, args, kwargs))
        if not self.is_rehearsal:
            self.drawn.add(stream)
        seed = self.seeds.get(stream)
        if seed is None:
            numpy = sys.modules["numpy"]
            seed = self.seeds[stream] = numpy.uint32(self.streams.seed(LIBRARY, None, stream))
        return mark[2](key, seed) if mark else self.fold(key, seed)

    def stream(self, frame: FrameType, name: str, *, is_permutation: bool) -> str:
        """Stream of a draw from an unmarked key."""
        caller: FrameType | None = frame
        module = frame.f_globals.get("__name__")
        while caller is not None and module == BETWEEN:
            caller = caller.f_back
            module = caller.f_globals.get("__name__") if caller else None
        if module in DRAWING:
            return DRAWING[str(module)]
        self.programs.depends_on(REGION)
        region = self.region()
        if region == OTHER and caller is not None and self.streams.is_active and self.streams.is_routed_thread():
            self.programs.depends_on(TRAINING)
            return self.early.stream(caller, "jax.random." + name, is_order=is_permutation) or region
        return region

    def region(self) -> str:
        """The stream of this thread's region."""
        return self.streams.now if self.streams.is_routed_thread() else OTHER

    # ------------------------------------------------------------ names

    def mark_key(self, key: Any, name: object) -> Any:
        """The key that a library hands out under a name, marked with the stream of that name.

        If the region has the same stream, the key is not changed: marking converts a raw key to a typed one, which is
            visible.
        """
        with self.streams.recorder.guarded("key of %s" % name):
            stream = stream_of(name)
            if stream is not None and stream != self.region():
                return self._marker(key, stream)(key)
        return key

    def _marker(self, key: Any, stream: str) -> Callable[[Any], Any]:
        kind = _name_of_kind(key)
        marker = self.markers.get((kind, stream))
        if marker is None:
            marker = self.markers[kind, stream] = self._make_marker(key, stream)
        return marker

    def _make_marker(self, key: Any, stream: str) -> Callable[[Any], Any]:
        """Create the marker: a key implementation whose numbers are those of the original one."""
        random = self.random
        marked_as = self.marks.get(_name_of_kind(key))
        typed = key if _name_of_kind(key) else random.wrap_key_data(key)
        plain = marked_as[1] if marked_as else typed.dtype._impl
        marked = plain._replace(name="%s of %s" % (plain.name, stream), tag="%s of %s" % (plain.tag, stream))

        def mark(key: Any) -> Any:
            return random.wrap_key_data(random.key_data(key), impl=marked)

        def draw(key: Any, seed: Any) -> Any:
            return random.fold_in(random.wrap_key_data(random.key_data(key), impl=plain), seed)

        self.marks[marked.name] = (stream, plain, self.jit(draw, inline=True))
        marker: Callable[[Any], Any] = self.jit(mark, inline=True)
        return marker


def _name_of_kind(key: Any) -> str:
    """Name of the generator behind a typed key; "" for a raw key."""
    kind = getattr(getattr(key, "dtype", None), "_impl", None)
    return "" if kind is None else str(kind.name)


def _is_permutation(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if name == "choice":
        return not (args[3] if len(args) > 3 else kwargs.get("replace", True))
    return name == "permutation"


def _home(function: Any) -> dict[str, Any]:
    """Namespace of the module in which a function was defined."""
    return getattr(inspect.unwrap(function), "__globals__", {})


def _modules(function: Any) -> list[Any]:
    """Packages from `jax.random` to the module in which a sampler was defined."""
    name = str(_home(function).get("__name__", ""))
    names = [name.rsplit(".", cut)[0] for cut in range(name.count(".")) if name.rsplit(".", cut)[0] != "jax._src"]
    return [sys.modules[name] for name in names if name in sys.modules]


def _first_parameter(function: Any) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code.co_varnames[0] if code is not None and code.co_argcount else ""
