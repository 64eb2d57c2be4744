"""Random streams: the purposes of random numbers, and the generators that follow them.

Each global generator of a library has one state per stream. Regions of code (the constructor of a module, a sampler, a
forward pass) belong to a stream: on entry, every library switches to the states of that stream, and on exit back to the
previous ones. One stream can therefore vary between runs while all others stay bitwise the same.

In nested regions the outermost one counts, except for `init`: a layer that is created in a forward pass is still
initialised from `init`.
"""

from __future__ import annotations

import operator
from sys import _getframe
from threading import get_ident

from .annotations import TYPE_CHECKING, Any, Callable
from .pool_workers import is_pool_worker, task_call

if TYPE_CHECKING:
    from types import CodeType
    from typing import ContextManager, Protocol

    from .recorder import Recorder

    class OtherThreads(Protocol):
        """Other threads that draw from the streams, one at a time (`callback_threads.py`)."""

        now: str
        """The stream that the one that draws now draws from."""

        def is_drawing(self) -> bool:
            """Whether the current thread is the one that may draw."""

        def exclude(self) -> ContextManager[None]:
            """A context in which no other thread draws."""


STREAMS = ("init", "shuffle", "augment", "dropout", "split", "other")
MOST_PLACES = 50
"""Lines that draw outside of the main loop, of which a process tells."""
OTHER = "other"
"""Where a process starts, and what no region explains."""
UNSEEDED = "none-"
"""How the keys of generators begin for which the script has no seed."""


def derive(*parts: object) -> int:
    """A seed in [0, 2**32) derived from the parts; the same on every machine and Python version.

    Source: SHA-256, so that neighbouring seeds have nothing in common; Python's hash() differs between processes.
    """
    text = "\x1f".join(str(part) for part in parts)
    from hashlib import sha256  # loads OpenSSL, which many a process of the user never needs

    return int.from_bytes(sha256(text.encode("utf-8")).digest()[:4], "big")


def spell_seed(seed: Any) -> str:
    """A seed as text. Integers of any type have the same text; other seeds are identified by their contents."""
    try:
        return str(operator.index(seed))
    except TypeError:
        return repr(seed)


def _task() -> tuple[CodeType, int] | None:
    return task_call(_getframe(1)) if is_pool_worker() else None


class Streams:
    """Tracks the stream that draws are currently routed to.

    Only the thread that routes draws is routed, and with it the main thread of every forked process; what other threads
    draw comes from whatever state is in place, unless they are callbacks of a framework (`callback_threads.py`).

    Args:
        seeds: stream to seed; empty when the variant leaves seeds alone. A stream without one has that of `other`.
        varied: streams whose seeds differ between the runs of the variant.

    Attributes:
        paused: above zero while all generators stay as they are: their states are somebody else's affair.
        n_asked: how often a generator or a seed of one of the streams was asked for, where `banks` have none.
        seeded_in: library to the task call in which the script seeded it last; none outside of pools.
    """

    def __init__(self, seeds: dict[str, int], recorder: Recorder, varied: frozenset[str] = frozenset()) -> None:
        self.seeds = seeds
        self.varied = varied
        self.recorder = recorder
        self.routed_stream = OTHER
        self.thread = get_ident()
        self.paused = 0
        self.seeded_in: dict[str, tuple[CodeType, int] | None] = {}
        self.banks: list[Bank] = []
        self.counts: dict[tuple[str, ...], int] = {}
        self.n_asked = 0
        self.drawn: dict[str, set[str]] = {}
        self.places: set[tuple[str, str, int]] = set()
        self.callback_threads: OtherThreads | None = None
        recorder.at_rank.append(self._begin_unseeded)

    @property
    def is_active(self) -> bool:
        return bool(self.seeds)

    @property
    def now(self) -> str:
        """The current stream of this thread."""
        threads = self.callback_threads
        return threads.now if threads is not None and threads.is_drawing() else self.routed_stream

    def is_routed_thread(self) -> bool:
        """Whether draws and seeds of this thread are currently routed."""
        threads = self.callback_threads
        return not self.paused and (get_ident() == self.thread or (threads is not None and threads.is_drawing()))

    # ------------------------------------------------------------ regions

    def enter(self, stream: str) -> str | None:
        """Enter a region; returns the argument of `leave`, or None if nothing changes. Takes some µs, or less."""
        if self.callback_threads is not None and not self.callback_threads.is_drawing():
            with self.callback_threads.exclude():
                return self._enter(stream)
        return self._enter(stream)

    def _enter(self, stream: str) -> str | None:
        now = self.now
        if now == stream or (now != OTHER and stream != "init") or not self.seeds or not self.is_routed_thread():
            return None
        self._switch(now, stream)
        return now

    def leave(self, before: str | None) -> None:
        if before is None:
            return
        if self.callback_threads is None or self.callback_threads.is_drawing():
            self._switch(self.now, before)
            return
        with self.callback_threads.exclude():
            self._switch(self.now, before)

    def _switch(self, before: str, now: str) -> None:
        if self.callback_threads is None or not self.callback_threads.is_drawing():
            self.routed_stream = now
        self.swap_states(before, now)

    def swap_states(self, before: str, now: str) -> None:
        """Switch every library to the states of another stream."""
        for bank in self.banks:
            try:
                bank.switch(before, now)
            except Exception as error:
                self.recorder.fault("stream %s of %s" % (now, bank.library), error)

    def after_fork(self) -> None:
        self.thread = get_ident()

    # ------------------------------------------------------------ seeds

    def seed(self, library: str, script_seed: str | None = None, stream: str | None = None) -> int:
        """The seed of `library` for a stream (by default the current one).

        Args:
            script_seed: the seed that the script asked for, as text; None for none.
        """
        seeds = self.seeds
        return derive(seeds.get(stream or self.now, seeds[OTHER]), library, script_seed)

    def next_seed(self, *call: str, stream: str | None = None) -> int:
        """A seed for one of several calls that differ only in their order."""
        chosen = stream or self.now
        key = (chosen, *call)
        self.n_asked += 1
        self.counts[key] = count = self.counts.get(key, 0) + 1
        self.tell_drawn(call[0], chosen)
        return derive(self.seeds.get(chosen, self.seeds[OTHER]), *call, count)

    def unseeded_key(self) -> str | None:
        """What takes the place of the script's seed where it sets none, so that ranks draw different numbers."""
        return "rank %d" % self.recorder.rank if self.recorder.rank else None

    def _begin_unseeded(self) -> None:
        """The rank became known: what draws without a seed of the script begins anew, with the numbers of its rank."""
        for bank in self.banks:
            if bank.is_random_unseeded and self.recorder.rank:
                bank.begin_unseeded(self.now)

    def reseed(self, library: str, script_seed: str, set_seed: Callable[[], Any]) -> Any:
        """Carry out a seeding call of the script; returns its result.

        Outside of all regions it is taken for "begin anew, keyed by my seed" and resets every stream of the library; in
        a region it is the region's own affair, so that seeds drawn for augmentation do not move the shuffling.
        """
        banks = [bank for bank in self.banks if library in (bank.library, bank.follows)]
        self.seeded_in.update(dict.fromkeys([bank.library for bank in banks], _task()))
        for bank in banks:
            bank.before_seeding(script_seed, self.now)
        result = set_seed()
        for bank in banks:
            bank.after_seeding(self.now)
        return result

    # ------------------------------------------------------------ what was drawn

    def fingerprint(self) -> object:
        """A value that changes with every draw of this thread from a stream, compared with `==`."""
        return self.n_asked, [bank.fingerprint(bank.get_state()) for bank in self.banks]

    def tell_drawn(self, library: str, stream: str) -> None:
        self.drawn.setdefault(library, set()).add(stream)

    def record_draw(self, call: str, stream: str, file: str, line: int) -> None:
        """Record a draw outside of the main loop, once per line."""
        place = (call, file, line)
        if place not in self.places and len(self.places) < MOST_PLACES:
            self.places.add(place)
            self.recorder.event("drawn", call, stream, file, line)

    def report(self) -> None:
        """Report which streams were used, at the end of the process."""
        if not self.is_active:
            return
        for bank in self.banks:
            bank.note_draws(self.now)
        for library in sorted(self.drawn):
            self.recorder.event("draws", library, sorted(self.drawn[library]))


class Bank:
    """The states of one global generator, one per stream.

    Each library derives a class from it that creates, sets, reads and compares states.

    Attributes:
        library: under whose name draws are told.
        follows: the library whose seeding calls begin it anew, beside its own.
        is_random_unseeded: whether the library, as long as nobody seeds the generator, begins it in each process with
            other numbers; some begin it with a constant.
    """

    is_random_unseeded = True

    def __init__(self, streams: Streams, library: str) -> None:
        self.streams = streams
        self.library = library
        self.follows = library
        self.script_seeds: dict[str, str | None] = {}
        self.states: dict[str, Any] = {}
        self.marks: dict[str, Any] = {}
        self.set_state(self._state(streams.now))
        streams.banks.append(self)

    # What a library gives.

    def new_state(self, seed: int) -> Any:
        """Create a new state."""
        raise NotImplementedError

    now: Any = None

    def set_state(self, state: Any) -> None:
        """Draw from this state; `now` is called again at every draw where the library allows it."""
        self.now = state

    def get_state(self) -> Any:
        """The state that draws currently come from."""
        return self.now

    def fingerprint(self, state: Any) -> Any:
        """A value that changes when the state changes, compared with `==`."""
        raise NotImplementedError

    # What all have in common.

    def switch(self, before: str, now: str) -> None:
        self.states[before] = self.get_state()
        self.set_state(self.states[now] if now in self.states else self._state(now))

    def _state(self, stream: str) -> Any:
        state = self.states[stream] = self.new_state(self.seed_of(stream))
        self.marks[stream] = self.fingerprint(state)
        return state

    def seed_of(self, stream: str) -> int:
        """The seed with which a stream begins."""
        key = self.script_seeds.get(stream)
        if key is None and self.is_random_unseeded:
            key = self.streams.unseeded_key()
        return self.streams.seed(self.library, key, stream)

    def begin_unseeded(self, now: str) -> None:
        """Begin the streams anew that the script has not seeded."""
        self.note_draws(now)
        for stream in [stream for stream in self.states if self.script_seeds.get(stream) is None]:
            del self.states[stream]
        if now not in self.states:
            self.set_state(self._state(now))
            self.after_seeding(now)

    def before_seeding(self, script_seed: str, now: str) -> None:
        """Called before a seeding call in the current stream."""
        self.note_draws(now)
        if now == OTHER:
            self.states.clear()
            self.marks.clear()
            self.script_seeds = dict.fromkeys(STREAMS, script_seed)
        else:
            self.script_seeds[now] = script_seed

    def after_seeding(self, now: str) -> None:
        """Called after a seeding call in the current stream, which has changed the state in place."""
        self.states[now] = self.get_state()
        self.marks[now] = self.fingerprint(self.states[now])

    def note_draws(self, now: str) -> None:
        """Record which streams were used since they were last seeded."""
        drawn = self.streams.drawn.setdefault(self.library, set())
        self.states[now] = self.get_state()
        for stream, state in self.states.items():
            if stream not in drawn and self.fingerprint(state) != self.marks.get(stream):
                drawn.add(stream)


class StreamGenerators:
    """Generators by stream, created on first use.

    Args:
        library: under whose name the draws are told, and the seeds derived.
        key: the seed that the script gave.
        make: makes a generator of a seed.

    Attributes:
        saved: what belongs to the states that the script has read, see `saved_states`.
        seeded_in: the task call of a pool in which the script gave the seed; None outside of pools and without a seed.
    """

    def __init__(self, streams: Streams, library: str, key: str, make: Callable[[int], Any]) -> None:
        self.streams = streams
        self.library = library
        self.make = make
        self.saved: Any = None
        self.begin(key)

    def begin(self, key: str) -> None:
        """Reset all generators, keyed by another seed."""
        self.key = key
        self.seeded_in = None if key.startswith(UNSEEDED) else _task()
        self.generators: dict[str, Any] = {}

    def now(self) -> Any:
        """The generator of the current stream."""
        return self.of(self.streams.now)

    def of(self, stream: str) -> Any:
        """The generator of a stream."""
        self.streams.n_asked += 1
        if stream not in self.generators:
            self.generators[stream] = self.make(self.streams.seed(self.library, self.key, stream))
            self.streams.tell_drawn(self.library, stream)
        return self.generators[stream]
