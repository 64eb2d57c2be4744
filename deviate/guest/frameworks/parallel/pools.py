"""`multiprocessing.Pool` and `ThreadPool`: `imap_unordered`, and callbacks of `apply_async`."""

from __future__ import annotations

import threading
from collections import deque
from functools import partial
from itertools import count
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...project import beyond
from ...seeds import wraps_like
from .executors import GATE, MACHINERY, TURNS, mark_own_pools
from .futures import record_call
from .orders import Order, places_of
from .turns import Gate, Ticket, Turns, workers_of

ORDER, ARRIVED, ENTRY = "_deviate_order", "_deviate_arrived", "_deviate_entry"
"""Attributes of iterators and results."""


def record_pools(module: Any, context: AdapterContext) -> None:
    places, inputs = places_of(context), context.inputs
    iterator = module.IMapUnorderedIterator
    original_init, original_set, original_next = iterator.__init__, iterator._set, iterator.next

    def __init__(self: Any, *args: Any) -> None:  # noqa: N807
        place = places.of(beyond(MACHINERY, _getframe(1)))
        if place >= 0:
            caller = beyond(("_deviate_guest",), _getframe(1))
            is_chunked = caller is not None and caller.f_locals.get("chunksize", 1) != 1
            noun = "chunks" if is_chunked else "results"
            setattr(self, ORDER, Order(inputs, "Pool.imap_unordered", place, noun))
            setattr(self, ARRIVED, deque())
        original_init(self, *args)

    def _set(self: Any, i: int, obj: Any) -> None:
        if hasattr(self, ARRIVED):
            getattr(self, ARRIVED).append(i)
        original_set(self, i, obj)

    def next_(self: Any, timeout: Any = None) -> Any:
        try:
            return original_next(self, timeout)
        finally:
            arrived = getattr(self, ARRIVED, None)
            if arrived is not None:
                with context.recorder.guarded("imap_unordered"), self._cond:
                    while len(arrived) > len(self._items):  # whatever was taken, also if it raised
                        getattr(self, ORDER).add(arrived.popleft())

    iterator.__init__ = wraps_like(__init__, original_init)
    iterator._set = wraps_like(_set, original_set)
    iterator.next = iterator.__next__ = wraps_like(next_, original_next)
    _record_callbacks(module.Pool, context)


def _record_callbacks(pool: Any, context: AdapterContext) -> None:
    original, places, numbers = pool.apply_async, places_of(context), {}  # type: ignore[var-annotated]

    def apply_async(
        self: Any,
        func: Any,
        args: Any = (),
        kwds: Any = None,
        callback: Any = None,
        error_callback: Any = None,
    ) -> Any:
        if kwds is None:
            kwds = {}
        place = places.of(_getframe(1)) if callback is not None else -1
        if place >= 0:
            order = places.order_at("Pool.apply_async", place, has_end=True)
            callback = record_call(callback, order, next(numbers.setdefault(place, count())), context)
        return original(self, func, args, kwds, callback, error_callback)

    pool.apply_async = wraps_like(apply_async, original)


# ---------------------------------------------------------------- the same order in every run


def order_pools(module: Any, context: AdapterContext) -> None:
    mark_own_pools(module.Pool, GATE, _gate, context)
    _deliver_items(module.IMapUnorderedIterator)
    _deliver_callbacks(module.ApplyResult)
    _take_turns(module.ThreadPool)


def _gate(pool: Any) -> Gate:
    """A gate for results with callbacks, and for those whose workers it knows."""
    return Gate(lambda: workers_of(getattr(pool, "_pool", None) or ()))


def _deliver_items(iterator: Any) -> None:
    """Items of `imap_unordered` arrive in order."""
    create, arrive = iterator.__init__, iterator._set

    def __init__(self: Any, pool: Any, *args: Any) -> None:  # noqa: N807
        gate = getattr(pool, GATE, None)
        if gate is not None:
            setattr(self, ENTRY, Gate(gate.workers))
        create(self, pool, *args)

    def _set(self: Any, i: int, obj: Any) -> None:
        gate = getattr(self, ENTRY, None)
        if gate is None:
            arrive(self, i, obj)
        else:
            gate.deliver(i, partial(arrive, self, i, obj))

    iterator.__init__ = wraps_like(__init__, create)
    iterator._set = wraps_like(_set, arrive)


def _deliver_callbacks(result: Any) -> None:
    """Results of `apply_async` with a callback arrive in order."""
    create, arrive = result.__init__, result._set

    def __init__(self: Any, pool: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        gate = getattr(pool, GATE, None)
        if gate is not None and type(self) is result and any(args):
            setattr(self, ENTRY, (gate, gate.number()))
        create(self, pool, *args, **kwargs)

    def _set(self: Any, i: int, obj: Any) -> None:
        entry = getattr(self, ENTRY, None)
        if entry is None:
            arrive(self, i, obj)
        else:
            entry[0].deliver(entry[1], partial(arrive, self, i, obj))

    result.__init__ = wraps_like(__init__, create)
    result._set = wraps_like(_set, arrive)


def _take_turns(pool: Any) -> None:
    """Tasks of thread pools run one after the other."""
    original = pool._setup_queues

    def _setup_queues(self: Any) -> None:
        original(self)
        if hasattr(self, GATE):
            turns, begun = Turns(), threading.local()
            setattr(self, TURNS, turns)
            self._inqueue = Tasks(self._inqueue, turns, begun)
            self._outqueue = Answers(self._outqueue, begun)
            self._quick_put, self._quick_get = self._inqueue.put, self._outqueue.get

    pool._setup_queues = wraps_like(_setup_queues, original)


class Tasks:
    """The queue of tasks of a thread pool. Whoever takes one waits for its turn."""

    def __init__(self, queue: Any, turns: Turns, begun: Any) -> None:
        self.queue = queue
        self.turns = turns
        self.begun = begun

    def put(self, task: Any, *args: Any) -> None:
        self.queue.put((None if task is None else self.turns.ticket(), task), *args)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        ticket, task = self.queue.get(*args, **kwargs)
        if ticket is not None and kwargs.get("block", True):
            self.begun.ticket = ticket
            ticket.begin()
        elif ticket is not None:  # the pool throws its tasks away
            ticket.end()
        return task

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)


class Answers:
    """The queue of results of a thread pool. Whoever puts one in ends its turn."""

    def __init__(self, queue: Any, begun: Any) -> None:
        self.queue = queue
        self.begun = begun

    def put(self, result: Any, *args: Any) -> None:
        self.queue.put(result, *args)
        ticket: Ticket | None = self.begun.__dict__.pop("ticket", None)
        if ticket is not None:
            ticket.end()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)
