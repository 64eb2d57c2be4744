"""`asyncio`: the order in which `as_completed` gives results."""

from __future__ import annotations

import sys
from functools import partial
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator
from .completion import replace
from .orders import Orders, TaskOrder
from .turns import MOST_S

HAS_CLASS = sys.version_info >= (3, 13)
"""`as_completed` is a function that returns an iterator, also an asynchronous one; before, it is a generator."""


def patch_as_completed(module: Any, context: AdapterContext) -> None:
    """Record the order of results; with one worker, each task counts as done only after those before it."""
    orders, wait, is_held = context.part(Orders), module.wait, context.controls.get("workers") == "one"

    async def after(before: Any, task: Any) -> Any:
        await wait([task])
        if before is not None:  # it may wait for what the program does with this one
            await wait([before], timeout=MOST_S)
        return await task

    def record(order: TaskOrder, number: int, task: Any) -> None:
        with context.recorder.guarded("asyncio.as_completed"):
            order.add(number)

    def watch(fs: Any, order: TaskOrder) -> dict[Any, Any]:
        """The tasks to wait for, each with the one that it stands for."""
        items = _sorted(fs)
        made = {item: module.ensure_future(item) for item in (items if is_held else set(items))}
        tasks: dict[Any, Any] = {}
        before = None
        for number, item in enumerate(items):
            task = module.ensure_future(after(before, made[item])) if is_held else made[item]
            tasks[task] = made[item]
            task.add_done_callback(partial(record, order, number))
            before = task
        return tasks

    original = module.as_completed

    def as_completed(fs: Any, **options: Any) -> Any:
        place = orders.own_place(_getframe(1))
        if (place < 0 and not is_held) or "loop" in options or not _is_valid(module, fs):
            return original(fs, **options)
        order = TaskOrder(context.inputs, "asyncio.as_completed", place)
        if HAS_CLASS:
            tasks = watch(fs, order)
            return TaskResults(original(set(tasks), **options), tasks)
        return generate(fs, order, options)

    def generate(fs: Any, order: TaskOrder, options: dict[str, Any]) -> Iterator[Any]:
        yield from original(set(watch(fs, order)), **options)

    replace(module, "as_completed", as_completed)


class TaskResults:
    """What `as_completed` returns: gives coroutines, or in an asynchronous loop the tasks of the program."""

    def __init__(self, results: Any, tasks: dict[Any, Any]) -> None:
        self.results = results
        self.tasks = tasks

    def __iter__(self) -> TaskResults:
        return self

    def __next__(self) -> Any:
        return next(self.results)

    def __aiter__(self) -> TaskResults:
        return self

    async def __anext__(self) -> Any:
        return self.tasks[await self.results.__anext__()]


def _is_valid(module: Any, fs: Any) -> bool:
    """Whether the original accepts the tasks, and this module can number them."""
    return not module.futures.isfuture(fs) and not module.coroutines.iscoroutine(fs) and hasattr(fs, "__iter__")


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
