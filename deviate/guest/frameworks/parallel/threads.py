"""Threads that run functions of the program: their numbers, and turns in which they run."""

from __future__ import annotations

import threading
from itertools import count

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...seeds import wraps_like
from .turns import Ticket, Turns

NUMBER = "_deviate_number"
"""Attribute of threads: how many threads of the program were started before."""


def number_threads(module: Any, context: AdapterContext) -> None:
    """Number the threads of the program in the order in which they are started."""
    start, numbers = module.Thread.start, count()

    def start_numbered(self: Any) -> Any:
        with context.recorder.guarded("Thread.start"):
            if not hasattr(self, NUMBER) and is_of_program(self, context):
                setattr(self, NUMBER, next(numbers))
        return start(self)

    module.Thread.start = wraps_like(start_numbered, start)


def number_of_thread() -> str:
    """What the items of this thread are told by; empty for threads that libraries start."""
    thread = threading.current_thread()
    number = getattr(thread, NUMBER, None)
    return str(number) if number is not None else "main" * (thread is threading.main_thread())


def run_threads_in_turn(module: Any, context: AdapterContext) -> None:
    """Run the threads of the program one after the other; the main thread goes on meanwhile."""
    start, turns = module.Thread.start, Turns()

    def start_in_turn(self: Any) -> Any:
        ticket: Ticket | None = None
        with context.recorder.guarded("Thread.start"):
            if is_of_program(self, context) and not self.ident:
                ticket = turns.ticket()
                _call_before(self, ticket.begin)
                _call_after(self, ticket.end)
        try:
            return start(self)
        except BaseException:
            if ticket is not None:
                ticket.end()
            raise

    module.Thread.start = wraps_like(start_in_turn, start)


def _call_before(thread: Any, function: Callable[[], object]) -> None:
    """Call a function in a thread before its own."""
    original = thread.run

    def run() -> None:
        thread.__dict__.pop("run", None)  # it refers to the thread
        function()
        original()

    thread.run = run


def _call_after(thread: Any, function: Callable[[], object]) -> None:
    """Call a function in a thread after its own, when an exception has been printed already."""
    original = thread._bootstrap_inner

    def _bootstrap_inner() -> None:
        thread.__dict__.pop("_bootstrap_inner", None)
        try:
            original()
        finally:
            function()

    thread._bootstrap_inner = _bootstrap_inner


def is_of_program(thread: Any, context: AdapterContext) -> bool:
    """Whether a thread runs a function of the program, and not one of a library."""
    target: Any = getattr(thread, "_target", None)
    while hasattr(target, "func"):
        target = target.func
    function = target if target is not None else getattr(type(thread), "run", None)
    code = getattr(function, "__code__", None)
    return code is not None and context.project.place(code) is not None
