"""Gives framework threads that call back into Python a stream of their own, one thread at a time.

All threads share the states that libraries draw from. While a callback draws, the main thread enters no region, and a
callback waits until the main thread has left all regions; otherwise its numbers would depend on timing.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Condition, get_ident

from .annotations import Iterator
from .streams import OTHER, Streams

PATIENCE_S = 5.0
"""A main thread that waits inside a region for a callback's result would wait for ever; after this, nobody does."""


class CallbackThreads:
    """Lets callbacks draw from the streams of this process; the main thread then waits for them."""

    def __init__(self, streams: Streams) -> None:
        self.streams = streams
        self.turn = Condition()
        self.drawing_thread: int | None = None
        self.now = OTHER
        self.is_off = False
        streams.callback_threads = self

    def is_drawing(self) -> bool:
        """Whether this thread may draw: like the main thread it can set seeds and enter regions."""
        return self.drawing_thread is not None and self.drawing_thread == get_ident()

    @contextmanager
    def exclude(self) -> Iterator[None]:
        """For the main thread: enter or leave a region while no callback draws."""
        with self.turn:
            if not self.turn.wait_for(lambda: self.drawing_thread is None, PATIENCE_S):
                # The callback has timed out; its further draws are not routed.
                self.streams.swap_states(self.now, OTHER)
                self.drawing_thread = None
                self._give_up()
            yield
            self.turn.notify_all()

    def begin(self, stream: str) -> str | None:
        """Enter a region in any thread; returns the argument of `end`, or None if nothing changes."""
        streams = self.streams
        if streams.is_routed_thread():
            return streams.enter(stream)
        if self.is_off or streams.paused or not streams.seeds:
            return None
        with self.turn:
            if not self.turn.wait_for(
                lambda: self.drawing_thread is None and streams.routed_stream == OTHER, PATIENCE_S
            ):
                self._give_up()
                return None
            self.drawing_thread, self.now = get_ident(), stream
            streams.swap_states(OTHER, stream)
        return OTHER

    def _give_up(self) -> None:
        self.is_off = True
        self.streams.recorder.event("uncontrolled", "draws in threads of a framework", "", 0)

    def end(self, before: str | None) -> None:
        if before is None:
            return
        is_drawing = self.is_drawing()
        if not is_drawing and get_ident() != self.streams.thread:
            return  # timed out before the end
        if not is_drawing or before != OTHER:
            self.streams.leave(before)
            return
        with self.turn:
            self.streams.swap_states(self.now, OTHER)
            self.drawing_thread = None
            self.turn.notify_all()


def callback_threads_of(streams: Streams) -> CallbackThreads:
    """The instance of this process, created when the first callback may come."""
    if not isinstance(streams.callback_threads, CallbackThreads):
        return CallbackThreads(streams)
    return streams.callback_threads
