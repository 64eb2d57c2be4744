"""Visits: threads of a framework that call back into Python draw from a stream of their own, one at a time.

The states that libraries draw from are shared by all threads. While a visitor draws from one, the main thread enters no
region, and a visitor waits until the main thread is outside of all; else its numbers would depend on when it came.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Condition, get_ident

from .streams import OTHER, Streams

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Iterator

PATIENCE_S = 5.0
"""A main thread that waits inside a region for what a visitor makes would wait for ever; after this, nobody does."""


class CallbackThreads:
    """The visits to the streams of this process; making it lets the main thread keep to them."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self.turn = Condition()
        self.visitor: int | None = None
        self.now = OTHER
        self.is_off = False
        streams.callback_threads = self

    def is_here(self) -> bool:
        """Whether this thread is the visitor: it may set seeds and enter regions like the main thread."""
        return self.visitor is not None and self.visitor == get_ident()

    @contextmanager
    def over(self) -> Iterator[None]:
        """For the main thread: enter or leave a region when the visitor has gone, and before another comes."""
        with self.turn:
            if not self.turn.wait_for(lambda: self.visitor is None, PATIENCE_S):
                self.streams.swap_states(self.now, OTHER)  # the visit is over, and what it still draws is nobody's
                self.visitor = None
                self._give_up()
            yield
            self.turn.notify_all()

    def begin(self, stream: str) -> str | None:
        """Begin a region in any thread; gives what `end` wants back, None when nothing changes."""
        streams = self.streams
        if streams.is_routed_thread():
            return streams.enter(stream)
        if self.is_off or streams.paused or not streams.seeds:
            return None
        with self.turn:
            if not self.turn.wait_for(lambda: self.visitor is None and streams.routed_stream == OTHER, PATIENCE_S):
                self._give_up()
                return None
            self.visitor, self.now = get_ident(), stream
            streams.swap_states(OTHER, stream)
        return OTHER

    def _give_up(self) -> None:
        self.is_off = True
        self.streams.recorder.event("uncontrolled", "draws in threads of a framework", "", 0)

    def end(self, before: str | None) -> None:
        if before is None:
            return
        is_here = self.is_here()
        if not is_here and get_ident() != self.streams.thread:
            return  # the visit was ended for it
        if not is_here or before != OTHER:
            self.streams.leave(before)
            return
        with self.turn:
            self.streams.swap_states(self.now, OTHER)
            self.visitor = None
            self.turn.notify_all()


def callback_threads_of(streams: Streams) -> CallbackThreads:
    """The visits to the streams of this process, from the first time that somebody may come."""
    if not isinstance(streams.callback_threads, CallbackThreads):
        return CallbackThreads(streams)
    return streams.callback_threads
