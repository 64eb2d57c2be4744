"""Seeds: records the seeds that the script sets, and replaces them where the variant varies a stream."""

from __future__ import annotations

import sys
from types import FrameType

from .annotations import Any, Callable
from .project import GuestProject
from .recorder import Recorder
from .streams import UNSEEDED, Streams, spell_seed

MOST_RECORDED = 100
"""Seeds that are recorded of one call in one line: some scripts make a generator for every example."""

ROUTED_ELSEWHERE = frozenset((
    "numpy", "random", "sklearn", "torch", "tensorflow", "joblib", "multiprocessing", "concurrent", "tempfile",
    "lightning", "pytorch_lightning", "lightning_fabric", "_deviate_guest",
))  # fmt: skip
"""Packages that make generators of what has been routed before, or of which nothing that is drawn reaches a result."""


class Seeding:
    """Observes and overrides the seeding calls of the script."""

    def __init__(self, streams: Streams, recorder: Recorder, project: GuestProject) -> None:
        self.streams = streams
        self.recorder = recorder
        self.project = project
        self.inside = False
        self.is_silent = False
        self.unseeded = 0
        self.n_recorded: dict[tuple[str, str, int], int] = {}
        self.at_unseeded: Callable[[str], object] | None = None
        self.before_seed: Callable[[str], object] | None = None

    def override(
        self,
        owner: Any,
        name: str,
        call: str,
        library: str,
        internal: str | tuple[str, ...] = (),
        keyword: str = "seed",
        is_global: bool = True,
    ) -> None:
        """Replace the seeding function `owner.name`.

        Args:
            call: its public name, for the record.
            library: generators that are seeded together have one library name.
            internal: modules of the library whose own calls pass through (a data-loader worker seeding itself).
            keyword: name of the seed's parameter, when it is given by name.
            is_global: whether it seeds a generator that all share. Where it makes a new one, only what the project
                itself makes is the script's; libraries make generators for reasons of their own.
        """
        original = getattr(owner, name, None)
        if original is None or hasattr(original, "__deviate__"):
            return
        seeding = self

        def seed(*args: Any, **kwargs: Any) -> Any:
            if seeding.is_passing(internal):
                return original(*args, **kwargs)
            if not is_global and seeding.project.place(sys._getframe(1).f_code) is None:
                return original(*args, **kwargs)
            if is_global and seeding.before_seed is not None:
                seeding.before_seed(library)
            seed_value = args[0] if args else kwargs.get(keyword)
            seeding.record(call, seed_value)
            if not seeding.streams.is_active or _is_no_seed(seed_value):
                return seeding.carry_out(original, args, kwargs)
            text = seeding.key(seed_value)
            new = seeding.streams.seed(library, text)
            if args:
                args = (new, *args[1:])
            else:
                kwargs = dict(kwargs, **{keyword: new})
            if is_global:
                return seeding.streams.reseed(library, text, lambda: seeding.carry_out(original, args, kwargs))
            return seeding.carry_out(original, args, kwargs)

        setattr(owner, name, wraps_like(seed, original))

    def carry_out(self, original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a seeding function; nested seeding calls do not count as calls of the script."""
        self.inside = True
        try:
            return original(*args, **kwargs)
        finally:
            self.inside = False

    def is_passing(self, internal: str | tuple[str, ...] = ()) -> bool:
        """Whether a seeding call, two frames up, is made by a library or a worker for itself, not by the script."""
        if self.inside or not self.streams.is_routed_thread():
            return True
        return bool(internal) and sys._getframe(2).f_globals.get("__name__", "").startswith(internal)

    def key(self, seed: object) -> str:
        """The key that identifies a script's seed; generators without a seed get different keys."""
        if seed is not None:
            return spell_seed(seed)
        self.unseeded += 1
        rank = self.streams.unseeded_key()
        key = "%s%d" % (UNSEEDED, self.unseeded)
        return key if rank is None else "%s of %s" % (key, rank)

    def record(self, call: str, seed: object, *, is_replaced: bool = True) -> None:
        """Record the project line that set a seed; library frames in between are skipped.

        Args:
            is_replaced: whether the seed is replaced where the variant replaces seeds.
        """
        if self.is_silent:
            return
        with self.recorder.guarded(call):
            action = "replaced" if self.streams.is_active and is_replaced else "kept"
            self._tell(call, seed, self.project.nearest(sys._getframe(1)), action)
            if seed is None and action == "kept" and self.at_unseeded is not None:
                self.at_unseeded(call)

    def observe(self, call: str, seed: object, frame: FrameType) -> None:
        """Record a generator that a library makes for itself in this frame, in a call by the project.

        With a seed it is the same in every variant; without one, its draws are not controlled. Libraries whose draws
        are routed in other ways are skipped.
        """
        library = str(frame.f_globals.get("__name__")).partition(".")[0]
        if library not in ROUTED_ELSEWHERE:
            self.leave_free("%s (%s)" % (library, call), seed, frame)

    def leave_free(self, call: str, seed: object, frame: FrameType) -> None:
        """Record a seed that no variant replaces, or draws without a seed that nothing controls.

        Calls while a module is imported, and calls that no project line leads to, are skipped.
        """
        with self.recorder.guarded(call):
            caller: FrameType | None = frame
            while caller is not None and self.project.place(caller.f_code) is None:
                if caller.f_code.co_filename.startswith("<frozen importlib"):
                    return
                caller = caller.f_back
            if caller is None or self.is_silent:
                return
            place = self.project.nearest(caller)
            if seed is not None:
                self._tell(call, seed, place, "fixed" if self.streams.is_active else "kept")
            elif self.streams.is_active and (call, *place) not in self.n_recorded:
                self.n_recorded[call, place[0], place[1]] = 1
                self.recorder.event("uncontrolled", "%s without a seed" % call, *place)

    def _tell(self, call: str, seed: object, place: tuple[str, int], action: str) -> None:
        key = (call, *place)
        self.n_recorded[key] = n_calls = self.n_recorded.get(key, 0) + 1
        if n_calls <= MOST_RECORDED:
            self.recorder.event("seed", call, repr(seed)[:80], *place, action)


def _is_no_seed(seed: object) -> bool:
    """Whether the argument is a generator that is passed on, or a traced number: there is no value to replace."""
    module = type(seed).__module__
    is_bits = module.startswith("numpy") and hasattr(seed, "random_raw")
    return is_bits or module.startswith("jax") or hasattr(seed, "bit_generator")


def wraps_like(wrapper: Any, original: Any) -> Any:
    """Make the wrapper look like the original in name, source text and signature."""
    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        try:
            setattr(wrapper, attribute, getattr(original, attribute))
        except (AttributeError, TypeError):
            pass
    wrapper.__wrapped__ = original
    wrapper.__deviate__ = True
    return wrapper
