"""`asyncio`: the order in which `as_completed` and `wait` give results."""

from __future__ import annotations

import sys
from sys import _getframe
from weakref import WeakSet

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from .futures import replace
from .orders import Order, Places, places_of, record_complete
from .turns import MOST_S

HAS_CLASS = sys.version_info >= (3, 13)
"""`as_completed` is a function that returns an iterator, also an asynchronous one; before, it is a generator."""


def record_tasks(module: Any, context: AdapterContext) -> None:
    places = places_of(context)

    def make_as_completed(original: Any) -> Any:
        def as_completed(fs: Any, **options: Any) -> Any:
            place = places.of(_getframe(1))
            if place < 0 or "loop" in options or not _is_valid(module, fs):
                return original(fs, **options)
            order = Order(context.inputs, "asyncio.as_completed", place)
            if HAS_CLASS:
                return original(_watch(module, fs, order, context), **options)
            return generate(fs, order, options)

        def generate(fs: Any, order: Order, options: dict[str, Any]) -> Iterator[Any]:
            yield from original(_watch(module, fs, order, context), **options)

        return as_completed

    if context.controls.get("workers") != "one":
        replace(module, "as_completed", make_as_completed)
    replace(module, "wait", lambda original: _make_wait(module, original, places))


def _watch(module: Any, fs: Any, order: Order, context: AdapterContext) -> set[Any]:
    """The tasks of the items, which are created in the order in which the original creates them."""
    items = list(fs)
    number = {item: index for index, item in reversed(list(enumerate(items)))}
    tasks = {}
    for item in set(items):
        tasks[module.ensure_future(item)] = number[item]

    def record(task: Any) -> None:
        with context.recorder.guarded("asyncio.as_completed"):
            order.add(tasks.get(task))

    for task in set(tasks):
        task.add_done_callback(record)
    return set(tasks)


def _make_wait(module: Any, original: Any, places: Places) -> Any:
    inputs = places.context.inputs

    async def wait(fs: Any, **options: Any) -> Any:
        place = places.of(_getframe(1))
        if place < 0 or not _is_valid(module, fs):
            return await original(fs, **options)
        items = list(fs)
        done, pending = await original(items, **options)
        if pending:
            with places.context.recorder.guarded("asyncio.wait"):
                finished = [index for index, item in enumerate(items) if item in done]
                record_complete(inputs, "asyncio.wait", place, finished, len(items))
        return done, pending

    return wait


def _is_valid(module: Any, fs: Any) -> bool:
    """Whether the original accepts the tasks, and this module can number them."""
    return not module.futures.isfuture(fs) and not module.coroutines.iscoroutine(fs) and hasattr(fs, "__iter__")


# ---------------------------------------------------------------- the same order in every run


def order_tasks(module: Any, context: AdapterContext) -> None:
    """Give results in the order of the arguments, or of the creation of tasks if these are in a set."""
    as_completed, wait, places = module.as_completed, module.wait, places_of(context)
    seen: WeakSet[Any] = WeakSet()

    def as_completed_in_order(fs: Any, *, timeout: Any = None, **options: Any) -> Any:
        if options or not _is_valid(module, fs):
            return as_completed(fs, timeout=timeout, **options)
        order = Order(context.inputs, "asyncio.as_completed", places.of(_getframe(1)))
        return InOrder(module, _sorted(fs), timeout, order)

    async def wait_in_order(fs: Any, *, timeout: Any = None, return_when: Any = "ALL_COMPLETED", **options: Any) -> Any:
        pending = [task for task in _sorted(fs) if task not in seen] if _are_tasks(module, fs) else []
        if return_when != "FIRST_COMPLETED" or options or not pending:
            return await wait(fs, timeout=timeout, return_when=return_when, **options)
        first = pending[0]
        await wait([first], timeout=MOST_S if timeout is None else min(timeout, MOST_S))
        if not first.done():
            return await wait(fs, timeout=timeout, return_when=return_when)
        seen.add(first)
        done = {task for task in fs if task in seen}
        return done, set(fs) - done

    replace(module, "as_completed", lambda original: as_completed_in_order)
    replace(module, "wait", lambda original: wait_in_order)


def _are_tasks(module: Any, fs: Any) -> bool:
    return isinstance(fs, (list, tuple, set)) and all(map(module.futures.isfuture, fs))


def _sorted(fs: Any) -> list[Any]:
    """Tasks without repetitions, in an order that is the same in every run."""
    items = list(dict.fromkeys(fs))
    if isinstance(fs, (set, frozenset)):
        items.sort(key=_number)
    return items


def _number(task: Any) -> int:
    """How many tasks were created before. Source: names of tasks, `Task-7` unless the program chooses another."""
    name = task.get_name() if hasattr(task, "get_name") else ""
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else -1


class InOrder:
    """What `as_completed` returns: gives results in the order of the arguments, as coroutines or as tasks."""

    def __init__(self, module: Any, items: list[Any], timeout: float | None, order: Order) -> None:
        self.module = module
        self.timeout = timeout
        self.items = items
        self.order = order
        self.numbers: dict[Any, int] = {}
        self.tasks: list[Any] | None = None
        self.end: float | None = None
        self.n_left = len(items)
        if HAS_CLASS:
            self.begin()

    def begin(self) -> list[Any]:
        if self.tasks is None:
            self.tasks = [self.module.ensure_future(item) for item in self.items]
            self.numbers = {task: number for number, task in enumerate(self.tasks)}
            if self.timeout is not None and self.tasks:
                self.end = self.tasks[0].get_loop().time() + self.timeout
        return self.tasks

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self.begin()
        if not self.n_left:
            raise StopIteration
        self.n_left -= 1
        return self._result()

    def __aiter__(self) -> InOrder:
        return self

    async def __anext__(self) -> Any:
        if not self.n_left:
            raise StopAsyncIteration
        self.n_left -= 1
        return await self._next_task()

    async def _result(self) -> Any:
        return (await self._next_task()).result()

    async def _next_task(self) -> Any:
        tasks = self.begin()
        first = tasks[0]
        left_s = None if self.end is None else max(0.0, self.end - first.get_loop().time())
        if not first.done():
            await self.module.wait([first], timeout=MOST_S if left_s is None else min(left_s, MOST_S))
        if not first.done() and (left_s is None or left_s > MOST_S):
            # It may wait for what the program does with the others.
            done, _ = await self.module.wait(tasks, timeout=left_s, return_when="FIRST_COMPLETED")
            first = next((task for task in tasks if task in done), first)
        if not first.done():
            first = next((task for task in tasks if task.done()), first)
        if not first.done():
            raise self.module.exceptions.TimeoutError
        tasks.remove(first)
        self.order.add(self.numbers[first])
        return first
