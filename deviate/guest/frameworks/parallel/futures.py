"""`concurrent.futures`: the order in which `as_completed`, `wait` and callbacks give results."""

from __future__ import annotations

import sys
from itertools import count
from sys import _getframe
from time import monotonic

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterator
from ...seeds import wraps_like
from .orders import Order, places_of, ranks, record_complete
from .turns import MOST_S

NUMBER, IS_SEEN = "_deviate_number", "_deviate_seen"
"""Attributes of futures: the order of creation, and whether `wait` has returned it as done."""


def record_futures(module: Any, context: AdapterContext) -> None:
    number_futures(module)
    places, inputs = places_of(context), context.inputs

    def make_as_completed(original: Any) -> Any:
        def as_completed(fs: Any, timeout: Any = None) -> Any:
            place = places.of(_getframe(1))
            if place < 0:
                return original(fs, timeout)
            return recorded([fs], timeout, place)

        def recorded(box: list[Any], timeout: Any, place: int) -> Iterator[Any]:
            futures = list(box.pop())
            rank = ranks(number_of(future) for future in futures)
            order = Order(inputs, "concurrent.futures.as_completed", place)
            results = original(futures, timeout)
            del futures
            for future in results:
                with context.recorder.guarded("as_completed"):
                    order.add(rank.get(number_of(future)))
                held = [future]
                del future  # the program may want it to be freed
                yield held.pop()

        return as_completed

    def make_wait(original: Any) -> Any:
        def wait(fs: Any, timeout: Any = None, return_when: Any = module.ALL_COMPLETED) -> Any:
            place = places.of(_getframe(1))
            if place < 0:
                return original(fs, timeout, return_when)
            futures = list(fs)
            result = original(futures, timeout, return_when)
            if result.not_done:
                with context.recorder.guarded("wait"):
                    rank = ranks(number_of(future) for future in futures)
                    done = sorted(rank[number_of(future)] for future in result.done)
                    record_complete(inputs, "concurrent.futures.wait", place, done, len(rank))
            return result

        return wait

    replace(module, "as_completed", make_as_completed)
    replace(module, "wait", make_wait)
    record_callbacks(module.Future, context)


def record_callbacks(future_class: Any, context: AdapterContext) -> None:
    """The order in which callbacks run, by the order in which they were added at a place."""
    original, places, numbers = future_class.add_done_callback, places_of(context), {}  # type: ignore[var-annotated]

    def add_done_callback(self: Any, fn: Any) -> Any:
        place = places.of(_getframe(1))
        if place >= 0:
            order = places.order_at("Future.add_done_callback", place, has_end=True)
            fn = record_call(fn, order, next(numbers.setdefault(place, count())), context)
        return original(self, fn)

    future_class.add_done_callback = wraps_like(add_done_callback, original)


def record_call(function: Any, order: Order, number: int, context: AdapterContext) -> Any:
    """A function that records its number when it is called."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with context.recorder.guarded(order.call):
            order.add(number)
        return function(*args, **kwargs)

    return call


def number_futures(module: Any) -> None:
    """Number futures in the order in which they are created."""
    if hasattr(module.Future, NUMBER):
        return
    numbers, original = count(), module.Future.__init__
    setattr(module.Future, NUMBER, -1)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        original(self, *args, **kwargs)
        setattr(self, NUMBER, next(numbers))

    module.Future.__init__ = wraps_like(__init__, original)


def number_of(future: Any) -> int:
    return getattr(future, NUMBER, -1)


def replace(module: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replace a function of a module, and the same function in the package that offers it."""
    original = getattr(module, name)
    replacement = wraps_like(make(original), original)
    package: Any = sys.modules.get(module.__name__.rpartition(".")[0])
    if getattr(package, name, None) is original:
        setattr(package, name, replacement)
    setattr(module, name, replacement)


# ---------------------------------------------------------------- the same order in every run


def order_futures(module: Any, context: AdapterContext) -> None:
    """Give results in the order in which their futures were created."""
    number_futures(module)
    complete, wait, timeout_error = module.as_completed, module.wait, module.TimeoutError

    def as_completed(fs: Any, timeout: Any = None) -> Iterator[Any]:
        end = None if timeout is None else monotonic() + timeout
        pending = sorted(set(fs), key=number_of, reverse=True)
        n_all = len(pending)
        del fs
        while pending:
            left_s = None if end is None else max(0, end - monotonic())
            if wait(pending[-1:], MOST_S if left_s is None else min(left_s, MOST_S)).done:
                yield pending.pop()
                continue
            if left_s is None or left_s > MOST_S:  # this one may wait for what the program does with the others
                yield from complete(pending, left_s)
                return
            for future in sorted(wait(pending, 0).done, key=number_of):
                pending.remove(future)
                yield future
            if pending:
                raise timeout_error("%d (of %d) futures unfinished" % (len(pending), n_all))

    def wait_in_order(fs: Any, timeout: Any = None, return_when: Any = module.ALL_COMPLETED) -> Any:
        futures = set(fs)
        pending = [future for future in futures if not getattr(future, IS_SEEN, False)]
        if return_when != module.FIRST_COMPLETED or not pending:
            return wait(futures, timeout, return_when)
        first = min(pending, key=number_of)
        if not wait([first], MOST_S if timeout is None else min(timeout, MOST_S)).done:
            return wait(futures, 0 if timeout is not None and timeout <= MOST_S else timeout, return_when)
        setattr(first, IS_SEEN, True)
        done = {future for future in futures if getattr(future, IS_SEEN, False)}
        return module.DoneAndNotDoneFutures(done, futures - done)

    replace(module, "as_completed", lambda original: as_completed)
    replace(module, "wait", lambda original: wait_in_order)
