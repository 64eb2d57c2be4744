"""Seeds on request, numbered by stream and count. No generator state is switched."""

from __future__ import annotations

from .annotations import Any
from .streams import OTHER, Bank, Streams, derive


class Given(int):
    """A seed that was generated here and that a library passes on: the script has not set it."""


class Requests(Bank):
    """The requests of one library. The k-th of a stream, counted from 1, gets `derive(seed of the stream, k)`.

    Args:
        library: under whose name the draws are told, and the seeds derived.
        follows: the library whose seeding calls begin the count anew; by default this one.
    """

    def __init__(self, streams: Streams, library: str, follows: str | None = None) -> None:
        super().__init__(streams, library)
        self.follows = follows or library

    def next(self, stream: str) -> tuple[int, int]:
        """The seed for the next request of a stream, and the number of the request."""
        state = self.states.get(stream) or self._state(stream)
        state[1] += 1
        return state[0], state[1]

    def next_seed(self, stream: str) -> Given:
        return Given(derive(*self.next(stream)))

    def seed(self, stream: str, key: str) -> Given:
        """The seed for a request with an explicit seed: the same whenever the script passes the same seed."""
        self.streams.tell_drawn(self.library, stream)
        return Given(self.streams.seed(self.library, "%s\x1f%s" % (self.script_seeds.get(stream), key), stream))

    def new_state(self, seed: int) -> Any:
        return [seed, 0]

    def fingerprint(self, state: Any) -> Any:
        return state[1]

    def set_state(self, state: Any) -> None:
        pass

    def get_state(self) -> Any:
        return self.states.get(OTHER) or self._state(OTHER)

    def switch(self, before: str, now: str) -> None:
        """Does nothing, as every stream has its own count."""

    def note_draws(self, now: str) -> None:
        super().note_draws(OTHER)

    def before_seeding(self, seed: str, now: str) -> None:
        super().before_seeding(seed, now)
        self.states.pop(now, None)

    def after_seeding(self, now: str) -> None:
        self.marks[now] = self.fingerprint(self.states.get(now) or self._state(now))
