"""Results in order of completion: each is recorded by its number among those that the program requested."""

from __future__ import annotations

import sys
from collections import deque
from itertools import count
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from ...project import beyond
from ...seeds import wraps_like
from .orders import MACHINERY, Orders, TaskOrder, ranks

NUMBER, ORDER, ARRIVED = "_deviate_number", "_deviate_order", "_deviate_arrived"
"""Attributes of futures and other requests (how many were made before), of what gives results, and of iterators."""


def replace(module: Any, name: str, function: Any) -> None:
    """Replace a function of a module, and the same function in the package that offers it."""
    original = getattr(module, name)
    replacement = wraps_like(function, original)
    package: Any = sys.modules.get(module.__name__.rpartition(".")[0])
    if getattr(package, name, None) is original:
        setattr(package, name, replacement)
    setattr(module, name, replacement)


def record_futures(module: Any, context: AdapterContext) -> None:
    """`concurrent.futures`: `as_completed`, `wait` and callbacks."""
    number_futures(module)
    orders = context.part(Orders)

    original = module.as_completed

    def as_completed(fs: Any, timeout: Any = None) -> Any:
        place = orders.own_place(_getframe(1))
        return original(fs, timeout) if place < 0 else recorded([fs], timeout, place)

    def recorded(box: list[Any], timeout: Any, place: int) -> Iterator[Any]:
        futures = list(box.pop())
        rank = ranks(map(number_of, futures))
        order = TaskOrder(context.inputs, "concurrent.futures.as_completed", place)
        results = original(futures, timeout)
        del futures
        for future in results:
            with context.recorder.guarded("as_completed"):
                order.add(rank.get(number_of(future)))
            held = [future]
            del future  # the program may want it to be freed
            yield held.pop()

    def record_wait(frame: FrameType, result: Any, *args: Any, **kwargs: Any) -> None:
        if result.not_done:
            rank = ranks(map(number_of, (*result.done, *result.not_done)))
            text = ", ".join(str(number) for number in sorted(rank[number_of(item)] for item in result.done))
            shown = "results %s of %d complete" % (text or "none", len(rank))
            place = context.inputs.place(frame)
            context.inputs.record("completion", "concurrent.futures.wait", text, place, shown)

    replace(module, "as_completed", as_completed)
    orders.callers.observe(module, "wait", record_wait, replace)
    _record_callbacks(module.Future, "add_done_callback", 0, "fn", orders)


def number_futures(module: Any) -> None:
    """Number futures in the order in which they are created."""
    if not hasattr(module.Future, NUMBER):
        numbers, create = count(), module.Future.__init__
        setattr(module.Future, NUMBER, -1)

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            create(self, *args, **kwargs)
            setattr(self, NUMBER, next(numbers))

        module.Future.__init__ = wraps_like(__init__, create)


def number_of(future: Any) -> int:
    return getattr(future, NUMBER, -1)


def _record_callbacks(owner: Any, name: str, position: int, keyword: str, orders: Orders) -> None:
    """The order in which callbacks run, by the order in which they were given to a method at a place."""
    original, call = getattr(owner, name), "%s.%s" % (owner.__name__, name)

    def recorded(callback: Any, order: TaskOrder) -> Any:
        if callback is None:
            return None
        number = order.number()

        def run(*args: Any, **kwargs: Any) -> Any:
            with orders.context.recorder.guarded(call):
                order.add(number)
            return callback(*args, **kwargs)

        return run

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        place = orders.own_place(_getframe(1))
        if place >= 0:
            order = orders.order_at(call, place, has_end=True)
            args = tuple(recorded(each, order) if at == position else each for at, each in enumerate(args))
            kwargs = {key: recorded(each, order) if key == keyword else each for key, each in kwargs.items()}
        return original(self, *args, **kwargs)

    setattr(owner, name, wraps_like(method, original))


def record_pools(module: Any, context: AdapterContext) -> None:
    """`multiprocessing.Pool` and `ThreadPool`: `imap_unordered`, and callbacks of `apply_async`."""
    orders, iterator = context.part(Orders), module.IMapUnorderedIterator
    create, arrive, take = iterator.__init__, iterator._set, iterator.next

    def __init__(self: Any, *args: Any) -> None:  # noqa: N807
        place = orders.own_place(beyond(MACHINERY, _getframe(1)))
        if place >= 0:
            setattr(self, ORDER, TaskOrder(context.inputs, "Pool.imap_unordered", place))
            setattr(self, ARRIVED, deque())
        create(self, *args)

    def _set(self: Any, i: int, obj: Any) -> None:
        if hasattr(self, ARRIVED):
            getattr(self, ARRIVED).append(i)
        arrive(self, i, obj)

    def next_(self: Any, timeout: Any = None) -> Any:
        try:
            return take(self, timeout)
        finally:
            arrived = getattr(self, ARRIVED, None)
            if arrived is not None:
                with context.recorder.guarded("imap_unordered"), self._cond:
                    while len(arrived) > len(self._items):  # whatever was taken, also if it raised
                        getattr(self, ORDER).add(arrived.popleft())

    iterator.__init__ = wraps_like(__init__, create)
    iterator._set = wraps_like(_set, arrive)
    iterator.next = iterator.__next__ = wraps_like(next_, take)
    _record_callbacks(module.Pool, "apply_async", 3, "callback", orders)


def record_joblib(module: Any, context: AdapterContext) -> None:
    """`Parallel(return_as="generator_unordered")`."""
    parallel, callback, orders = module.Parallel, module.BatchCompletionCallBack, context.part(Orders)
    if not hasattr(callback, "_register_outcome"):  # before joblib 1.3, there are no generators
        return
    call, create, register = parallel.__call__, callback.__init__, callback._register_outcome

    def start(self: Any, iterable: Any) -> Any:
        with context.recorder.guarded("joblib.Parallel"):
            place = -1 if getattr(self, "return_ordered", True) else orders.own_place(_getframe(1))
            setattr(self, ORDER, TaskOrder(context.inputs, "joblib.Parallel", place, "batches", has_end=True))
        return call(self, iterable)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        create(self, *args, **kwargs)
        order = getattr(self.parallel, ORDER, None)
        setattr(self, NUMBER, None if order is None else order.number())

    def _register_outcome(self: Any, outcome: Any) -> Any:
        number = self.__dict__.pop(NUMBER, None)  # later outcomes are ignored
        if number is not None:
            with context.recorder.guarded("joblib.Parallel"):
                getattr(self.parallel, ORDER).add(number)
        return register(self, outcome)

    parallel.__call__ = wraps_like(start, call)
    callback.__init__ = wraps_like(__init__, create)
    callback._register_outcome = wraps_like(_register_outcome, register)


def record_loaders(module: Any, context: AdapterContext) -> None:
    """The order of batches of a `DataLoader` with `in_order=False`."""
    iterator = module._MultiProcessingDataLoaderIter
    original = iterator._get_data

    def _get_data(self: Any) -> Any:
        answer = original(self)
        if not getattr(self, "_in_order", True):
            with context.recorder.guarded("DataLoader"):
                if not hasattr(self, ORDER):
                    place = context.inputs.place(_getframe(1))
                    setattr(self, ORDER, TaskOrder(context.inputs, "DataLoader", place, "batches"))
                getattr(self, ORDER).add(answer[0])
        return answer

    iterator._get_data = wraps_like(_get_data, original)
