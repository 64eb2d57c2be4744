"""The control `entropy`: random numbers of the operating system, drawn by the host, so that they can be given again.

It reaches `os.urandom`, `os.getrandom`, `uuid.uuid4`, `secrets`, `random.SystemRandom`, and generators of Python,
NumPy, PyTorch and TensorFlow that are made or begin without a seed. It does not reach C and C++ code that asks the
system itself, such as `torch.Generator().seed`, nor `uuid.uuid1`. Names of temporary files and keys of
`multiprocessing` stay random.

Every place of the project that asks has numbers of its own, so that those of one place can be given again without
those of another. The generators that all code of a library shares have one place each: the name of the library. The
level is `SEED`, or `SEED/GIVEN/PLACES/WATCHED`: places that are listed have their numbers from the seed `GIVEN`; of
shared generators that are watched, the line that draws first is recorded. `seeded` stands for a fixed seed.

Source: CPython, `random.Random.seed` asks in C, `random.SystemRandom` calls `_urandom` of its module, and so does
`secrets`; NumPy, `SeedSequence` calls `secrets.randbits`; PyTorch, `createCPUGenerator(getNonDeterministicRandom())`.
"""

from __future__ import annotations

import builtins
import os
import sys
from _random import Random
from importlib.util import find_spec
from itertools import islice
from linecache import getline
from sys import _getframe
from types import FrameType
from zlib import crc32

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...project import outwards
from ...seeds import wraps_like
from ...stand_ins import stand_in
from .callers import IMPORTING

MODULES = ("os", "random", "numpy.random", "torch", "tensorflow")
CONTROL, HOLD, SEED = "entropy", "seeded", "26"
SHARED = ("random", "numpy", "torch", "tensorflow")
BITS, BITS_OF_TORCH, BITS_OF_TENSORFLOW = 256, 63, 31
UNSEEDED = ("tempfile", "multiprocessing")
"""Modules whose numbers are no input of the program, but have to differ between processes."""
MOST_BETWEEN = 3


def install(module: Any, context: AdapterContext) -> None:
    if CONTROL not in context.controls:
        return
    entropy = context.part(DrawnEntropy)
    if module.__name__ == "os":
        for name in ("urandom", "getrandom"):
            if hasattr(module, name):
                stand_in(module, name, entropy.function(getattr(module, name)))
    elif module.__name__ == "random":
        entropy.patch_random(module)
    elif not entropy.has_streams:  # otherwise deviate has seeded them
        entropy.begin(module)


class DrawnEntropy:
    """The numbers of this process; a forked one has others."""

    def __init__(self, context: AdapterContext) -> None:
        own, _, rest = context.controls[CONTROL].replace(HOLD, SEED).partition("/")
        given, _, rest = rest.partition("/")
        places, _, watched = rest.rpartition("/")  # a place may be in a folder
        self.own, self.given = own, given or own
        self.places, self.watched = frozenset(places.split(",")), frozenset(filter(None, watched.split(",")))
        self.context = context
        self.has_streams = context.streams.is_active
        self.generators: dict[str, Random] = {}
        self.process = ""
        self.n_forks = 0
        self.shared: dict[str, tuple[Callable[[], object], object]] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._count_fork, after_in_child=self._begin_anew)
        context.seeding.before_seed = self.end
        context.recorder.at_close.append(self._close)
        if self.watched:
            context.part(FirstDraws)  # before the first import of the program

    def _count_fork(self) -> None:
        self.n_forks += 1

    def _begin_anew(self) -> None:
        self.process += "fork %d " % self.n_forks
        self.generators.clear()
        self.shared.clear()

    def bits(self, n: int, place: str) -> int:
        """A number of `n` bits for a place of the project, or for the shared generator of a library."""
        generator = self.generators.get(place)
        if generator is None:
            seed = self.given if place in self.places else self.own
            text = "%s %s %s" % (seed, place, self._process())
            generator = self.generators[place] = Random(crc32(text.encode()))
            if place not in SHARED:  # of a shared generator it is told whether anything is drawn
                self._tell(place)
        return int(generator.getrandbits(n))

    def _process(self) -> str:
        """What tells this process from others of the run: its rank, its arguments, its number among its siblings."""
        processes: Any = sys.modules.get("multiprocessing.process")
        identity = processes.current_process()._identity if processes is not None else ()
        return "%s%s %s %s" % (self.process, os.environ.get("RANK", ""), identity, getattr(sys, "argv", ())[1:])

    def _tell(self, place: str) -> None:
        file, _, line = place.rpartition(":")
        if place:
            self.context.recorder.event("chance", "drawn", "" if file else place, file, int(line) if file else 0)

    def place(self, frame: FrameType | None) -> str:
        """The line of the project that asks; the package that is being imported, if that asks."""
        is_import = False
        while frame is not None:
            file = self.context.project.place(frame.f_code)
            if file is not None:
                return "%s:%d" % (file, frame.f_lineno)
            if frame.f_code.co_filename.startswith(IMPORTING):
                is_import = True
            elif is_import and frame.f_code.co_name != "import_quietly":
                return str(frame.f_globals.get("__name__")).partition(".")[0]
            frame = frame.f_back
        return ""

    def function(self, original: Any) -> Any:
        """`os.urandom` or `os.getrandom`, in the place of the original."""

        def function(size: int, *args: Any, **kwargs: Any) -> bytes:
            frame = _getframe(1)
            if size <= 0 or _is_unseeded(frame):
                return bytes(original(size, *args, **kwargs))
            return self.bits(8 * size, self.place(frame)).to_bytes(size, "little")

        return function

    def patch_random(self, module: Any) -> None:
        original, system, shared = module.Random.seed, module.SystemRandom, module._inst
        module._urandom = os.urandom

        def seed(generator: Any, a: Any = None, version: int = 2) -> None:
            frame = _getframe(1)
            if a is None and not isinstance(generator, system) and not _is_unseeded(frame):
                a = self.bits(BITS, self.place(frame))
            if generator is shared:
                self.end(module.__name__)
            original(generator, a, version)

        def begin() -> None:
            original(shared, self.bits(BITS, module.__name__))

        module.Random.seed = wraps_like(seed, original)
        module.seed = shared.seed
        if not self.has_streams:  # otherwise deviate has seeded it
            begin()
            self.watch(module.__name__, shared.getstate)
            self._follow_restoring(module.__name__, "setstate", module)
            if hasattr(os, "register_at_fork"):  # Python seeds it in a forked process
                os.register_at_fork(after_in_child=begin)

    # The generators that all code shares.

    def begin(self, module: Any) -> None:
        """Begin the shared generator of a library that has just been imported with numbers of its own."""
        name = module.__name__
        if name == "numpy.random":
            state = module.mtrand._rand.get_state
            self.watch("numpy", lambda: [part.tolist() if hasattr(part, "tolist") else part for part in state()])
            self._follow_restoring("numpy", "set_state", module)
        elif name == "torch":
            seed = self.bits(BITS_OF_TORCH, name)
            module.default_generator.manual_seed(seed)
            if module.backends.cuda.is_built():
                module.cuda.manual_seed_all(seed)
            self.watch(name, lambda: module.default_generator.get_state().numpy().tobytes())
            self._follow_restoring(name, "set_rng_state", module, module.random)

            def draw_seed() -> int:
                number = self.bits(BITS_OF_TORCH, self.place(_getframe(1)))
                module.manual_seed(number)
                return number

            module.seed = module.random.seed = wraps_like(draw_seed, module.seed)
        else:
            self._seed_generators_of_tensorflow(module.random.Generator)
            seed = self.bits(BITS_OF_TENSORFLOW, name)
            self.context.seeding.carry_out(module.random.set_seed, (seed,), {})
            context = sys.modules["tensorflow.python.eager.context"].context

            def state() -> object:
                return context()._rng.getstate()  # of another generator after `set_seed`

            # Operations in graphs count on from the seed without it, so that the generator always counts as drawn from.
            self.watch(name, object, state)

    def _seed_generators_of_tensorflow(self, generator: Any) -> None:
        def from_non_deterministic_state(*args: Any, **kwargs: Any) -> object:
            return generator.from_seed(self.bits(BITS_OF_TORCH, self.place(_getframe(1))), *args, **kwargs)

        original = generator.from_non_deterministic_state
        generator.from_non_deterministic_state = staticmethod(wraps_like(from_non_deterministic_state, original))

    def _follow_restoring(self, library: str, name: str, *owners: Any) -> None:
        """Watch a shared generator again once the program has put back the state with which it began."""
        original = getattr(owners[0], name)
        state, begun = self.shared[library]

        def restore(*args: Any, **kwargs: Any) -> None:
            original(*args, **kwargs)
            if library not in self.shared and state() == begun:
                self.watch(library, state)

        for owner in owners:
            setattr(owner, name, wraps_like(restore, original))

    def watch(self, library: str, state: Callable[[], object], watched: Callable[[], object] | None = None) -> None:
        """Take down the state with which a shared generator begins; `watched` is the one that lines are compared by."""
        self.shared[library] = state, state()
        if library in self.watched:
            self.context.part(FirstDraws).watch(library, watched or state)

    def end(self, library: str) -> None:
        """Tell whether anything was drawn from a shared generator up to now, when it is seeded or the run ends."""
        state, begun = self.shared.pop(library, (None, None))
        if state is not None and state() != begun:
            self._tell(library)
        if library in self.watched:
            self.context.part(FirstDraws).forget(library)

    def _close(self) -> None:
        for library in tuple(self.shared):
            self.end(library)


class FirstDraws:
    """Finds the line of the project that draws first from a shared generator: its state is compared at each line."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.states: dict[str, tuple[Callable[[], object], object]] = {}
        self.last: tuple[str, int] | None = None
        self.file = ""
        self.is_importing = False
        builtins.__import__ = self._untraced(builtins.__import__)

    def _untraced(self, original: Any) -> Any:
        """`__import__`: what a library does while it is imported is not followed, which doubles the time it takes."""

        def import_quietly(name: str, *args: Any, **kwargs: Any) -> Any:
            top = name.partition(".")[0]
            if self.is_importing or top in sys.modules or (args[3:] and args[3]):
                return original(name, *args, **kwargs)
            spec = find_spec(top)
            if spec is None or spec.origin is None or self.context.project.file(spec.origin) is not None:
                return original(name, *args, **kwargs)
            self.is_importing = True
            sys.settrace(None)
            try:
                return original(name, *args, **kwargs)
            finally:
                self.is_importing = False
                sys.settrace(self._enter if self.states else None)

        return wraps_like(import_quietly, original)

    def watch(self, library: str, state: Callable[[], object]) -> None:
        self.states[library] = state, state()
        sys.settrace(None if self.is_importing else self._enter)
        for frame in outwards(_getframe(1)):
            if self.context.project.place(frame.f_code) is not None:
                frame.f_trace, frame.f_trace_opcodes = self._follow, True

    def forget(self, library: str) -> None:
        self._compare()
        self.states.pop(library, None)
        if not self.states:
            sys.settrace(None)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.context.project.place(frame.f_code) is None:
            return None
        frame.f_trace_opcodes = True  # the recorder turns the events of lines off in frames that it has marked
        return self._follow(frame, event, argument)

    def _follow(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not self.states:
            return None
        of = frame.f_back if event == "return" else frame
        file = None if of is None else self.context.project.place(of.f_code)
        if of is not None and file is not None and self.last != (file, of.f_lineno):
            self._compare()
            self.last, self.file = (file, of.f_lineno), of.f_code.co_filename
        return self._follow

    def _compare(self) -> None:
        """Record that the line that has just run drew, where a state is another one than before it."""
        for library, (state, begun) in tuple(self.states.items()):
            if self.last is None or state() == begun:
                continue
            if getline(self.file, self.last[1]).lstrip().startswith(("import ", "from ")):
                self.states[library] = state, state()  # a library draws while it is imported, for itself
                continue
            del self.states[library]
            self.context.recorder.event("chance", "first", library, *self.last)


def _is_unseeded(frame: FrameType | None) -> bool:
    nearest = islice(outwards(frame), MOST_BETWEEN)
    return any(str(one.f_globals.get("__name__")).startswith(UNSEEDED) for one in nearest)
