"""The control `workers=one`: tasks run one after the other, and results come in the order of the requests.

Pools of processes, `ThreadPool` and joblib get one worker, which takes tasks in the order in which they were given.
Threads and the tasks of a `ThreadPoolExecutor`, which often wait for each other, take turns.
"""

from __future__ import annotations

import threading
from sys import _getframe
from time import monotonic

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterator
from ...project import beyond
from ...seeds import wraps_like
from .completion import number_futures, number_of, replace
from .orders import MACHINERY, Orders, is_of_program
from .turns import MOST_S, Ticket, Turns

TURNS, IS_SEEN = "_deviate_turns", "_deviate_seen"
"""Attributes of executors, and of futures that `wait` has returned as done."""
ONE = {
    "concurrent.futures.process": ("ProcessPoolExecutor", 0, "max_workers", 1),
    "multiprocessing.pool": ("Pool", 0, "processes", 1),
    "joblib.parallel": ("Parallel", 0, "n_jobs", 1),
    "torch.utils.data.dataloader": ("DataLoader", None, "in_order", True),
}
"""Class, position and name of an argument, and its value; without a position, only where the name is given."""


def limit_workers(module: Any, context: AdapterContext) -> None:
    """Give what the program makes itself one worker."""
    class_name, position, keyword, value = ONE[module.__name__]
    owner, orders = getattr(module, class_name), context.part(Orders)
    create = owner.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if position is None:
            kwargs.update({keyword: value} if keyword in kwargs else {})
        elif orders.is_in_project(beyond(MACHINERY, _getframe(1))):
            if args:
                args = (value, *args[1:])
            else:
                kwargs[keyword] = value
        create(self, *args, **kwargs)

    owner.__init__ = wraps_like(__init__, create)


def order_futures(module: Any, context: AdapterContext) -> None:
    """`as_completed` and `wait` give results in the order in which their futures were created."""
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

    replace(module, "as_completed", as_completed)
    replace(module, "wait", wait_in_order)


def run_tasks_in_turn(module: Any, context: AdapterContext) -> None:
    """`ThreadPoolExecutor`: a turn ends after the callbacks of its task."""
    executor, item, orders = module.ThreadPoolExecutor, module._WorkItem, context.part(Orders)
    create, submit, run = executor.__init__, executor.submit, item.run
    begun = threading.local()

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        if orders.is_in_project(beyond(MACHINERY, _getframe(1))):
            setattr(self, TURNS, Turns())
        create(self, *args, **kwargs)

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
        try:
            run(self, *args)
        finally:
            ticket = begun.__dict__.pop("ticket", None)
            if ticket is not None:
                ticket.end()

    executor.__init__ = wraps_like(__init__, create)
    executor.submit = wraps_like(submit_in_turn, submit)
    item.run = wraps_like(run_item, run)


def run_threads_in_turn(module: Any, context: AdapterContext) -> None:
    """Run the threads of the program one after the other; the main thread goes on meanwhile."""
    start, turns = module.Thread.start, Turns()

    def start_in_turn(self: Any) -> Any:
        ticket: Ticket | None = None
        with context.recorder.guarded("Thread.start"):
            if is_of_program(self, context) and not self.ident:
                ticket = turns.ticket()
                _call_around(self, "run", ticket.begin, bool)
                # When an exception has been printed already.
                _call_around(self, "_bootstrap_inner", bool, ticket.end)
        try:
            return start(self)
        except BaseException:
            if ticket is not None:
                ticket.end()
            raise

    module.Thread.start = wraps_like(start_in_turn, start)


def _call_around(thread: Any, name: str, before: Callable[[], object], after: Callable[[], object]) -> None:
    """Call functions in a thread before and after one of its methods."""
    original = getattr(thread, name)

    def method() -> None:
        thread.__dict__.pop(name, None)  # it refers to the thread
        before()
        try:
            original()
        finally:
            after()

    setattr(thread, name, method)
