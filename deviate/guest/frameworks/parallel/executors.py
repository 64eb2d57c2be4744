"""Executors: tasks of threads run in turn, and results of processes are delivered in order."""

from __future__ import annotations

import threading
from functools import partial
from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...project import beyond
from ...seeds import wraps_like
from .orders import places_of
from .turns import Gate, Ticket, Turns, workers_of

MACHINERY = ("concurrent.futures", "multiprocessing", "torch.multiprocessing", "asyncio", "_deviate_guest")
"""Modules between the program and its pools. The program's pools are those that it makes itself."""
TURNS, GATE, ENTRY = "_deviate_turns", "_deviate_gate", "_deviate_entry"
"""Attributes of executors and futures."""


def run_tasks_in_turn(module: Any, context: AdapterContext) -> None:
    executor, item = module.ThreadPoolExecutor, module._WorkItem
    mark_own_pools(executor, TURNS, lambda self: Turns(), context)
    begun = threading.local()
    submit, run = executor.submit, item.run

    def begin(ticket: Ticket, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        begun.ticket = ticket
        ticket.begin()
        return function(*args, **kwargs)

    def submit_in_turn(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        turns = getattr(self, TURNS, None)
        if turns is None:
            return submit(self, fn, *args, **kwargs)
        futures: list[Any] = []
        ticket = turns.ticket(lambda: bool(futures) and futures[0].cancelled())
        try:
            futures.append(submit(self, begin, ticket, fn, *args, **kwargs))
        except BaseException:
            ticket.end()
            raise
        return futures[0]

    def run_item(self: Any, *args: Any) -> None:
        """Run a task; its turn ends after its callbacks."""
        try:
            run(self, *args)
        finally:
            ticket = begun.__dict__.pop("ticket", None)
            if ticket is not None:
                ticket.end()

    executor.submit = wraps_like(submit_in_turn, submit)
    item.run = wraps_like(run_item, run)


def deliver_in_order(module: Any, context: AdapterContext) -> None:
    executor, future_class = module.ProcessPoolExecutor, module._base.Future
    mark_own_pools(
        executor,
        GATE,
        lambda self: Gate(lambda: workers_of((getattr(self, "_processes", None) or {}).values())),
        context,
    )
    creating = threading.local()
    submit, cancel, create = executor.submit, future_class.cancel, future_class.__init__

    def submit_in_order(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        creating.gate = getattr(self, GATE, None)
        try:
            return submit(self, *args, **kwargs)
        finally:
            creating.gate = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        create(self, *args, **kwargs)
        gate, creating.gate = getattr(creating, "gate", None), None
        if gate is not None:
            setattr(self, ENTRY, (gate, gate.number()))

    def cancel_in_order(self: Any) -> Any:
        is_cancelled = cancel(self)
        entry = getattr(self, ENTRY, None)
        if is_cancelled and entry is not None:
            entry[0].deliver(entry[1], bool)
        return is_cancelled

    def deliver(original: Any) -> Any:
        def give(self: Any, value: Any) -> None:
            entry = getattr(self, ENTRY, None)
            if entry is None:
                original(self, value)
            else:
                entry[0].deliver(entry[1], partial(original, self, value))

        return wraps_like(give, original)

    executor.submit = wraps_like(submit_in_order, submit)
    future_class.__init__ = wraps_like(__init__, create)
    future_class.cancel = wraps_like(cancel_in_order, cancel)
    future_class.set_result = deliver(future_class.set_result)
    future_class.set_exception = deliver(future_class.set_exception)


def mark_own_pools(pool_class: Any, attribute: str, make: Any, context: AdapterContext) -> None:
    """Give the pools that the program makes itself an attribute."""
    original, places = pool_class.__init__, places_of(context)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if places.is_in_project(beyond(MACHINERY, _getframe(1))):
            setattr(self, attribute, make(self))
        original(self, *args, **kwargs)

    pool_class.__init__ = wraps_like(__init__, original)
