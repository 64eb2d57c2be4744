"""Turns: tasks of several threads run one after the other, in the order in which the program started them.

A task that waits for another one gives its turn away, so no program hangs: one whose thread waits in a lock, a queue or
a future at once, and one that does not run for some seconds, as in a lock that Python cannot see or a long sleep. No
task keeps the others waiting for longer than MOST_S; after that, this group of tasks takes no turns at all.
"""

from __future__ import annotations

import os
import sys
import threading
from time import monotonic

from ...annotations import Callable

MOST_S = 60.0
"""Seconds for which a task keeps the others waiting, and a result those after it."""
PATIENCE_S = 5.0
"""Seconds after which a task that does not run gives its turn away …"""
WAITING_S = 0.25
"""… and of one that waits in one of these modules, …"""
WAITS = ("threading", "queue", "concurrent.futures._base", "multiprocessing.")
FULL_S = 1.0
"""… and of one that waits until a full queue has space, which happens again and again."""
CHECK_S = 0.02
"""Seconds between two looks at a task that others wait for."""


class Turns:
    """The tasks of one group, such as those of an executor. A forked process has none of its parent's tasks."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.changed = threading.Condition()
        self.n_tickets = 0
        self.waiting: dict[int, Ticket] = {}
        self.is_off = False
        self.checked = 0.0

    def is_check_due(self) -> bool:
        """Whether nobody has looked at the first task for a while."""
        now = monotonic()
        is_due = now - self.checked >= CHECK_S
        if is_due:
            self.checked = now
        return is_due

    def ticket(self, is_void: Callable[[], bool] = bool) -> Ticket:
        """A ticket for the next task.

        Args:
            is_void: whether the task will never begin, as it was cancelled.
        """
        if self.pid != os.getpid():
            Turns.__init__(self)  # a thread that is not here may hold the lock
        with self.changed:
            ticket = self.waiting[self.n_tickets] = Ticket(self, self.n_tickets, is_void)
            self.n_tickets += 1
        return ticket


class Ticket:
    """One task.

    Attributes:
        thread: the thread that runs it; None before it begins.
        seen: when another task began to wait for this one. ran: when it was last seen to run.
    """

    def __init__(self, turns: Turns, number: int, is_void: Callable[[], bool]) -> None:
        self.turns = turns
        self.pid = turns.pid
        self.number = number
        self.is_void = is_void
        self.thread: tuple[int, int] | None = None
        self.seen: float | None = None
        self.slices = ""
        self.ran = 0.0

    def begin(self) -> None:
        """Wait for the turn of this task."""
        turns = self.turns
        if self.pid != os.getpid():
            return
        self.thread = threading.get_ident(), threading.get_native_id()
        with turns.changed:
            while not turns.is_off and turns.waiting:
                first = turns.waiting[next(iter(turns.waiting))]
                if first.number >= self.number:
                    break
                if first.is_void() or (turns.is_check_due() and first.is_stuck()):
                    del turns.waiting[first.number]
                    turns.changed.notify_all()
                else:
                    turns.changed.wait(CHECK_S)
            self.ran = 0.0

    def end(self) -> None:
        """The task has ended, or will not begin."""
        turns = self.turns
        if self.pid == os.getpid():
            with turns.changed:
                turns.waiting.pop(self.number, None)
                turns.changed.notify_all()

    def is_stuck(self) -> bool:
        """Whether the task seems to wait for something; asked every few milliseconds by those after it."""
        now = monotonic()
        self.seen = self.seen or now
        if now - self.seen > MOST_S:
            self.turns.is_off = True
        if self.thread is None:  # it waits in a queue behind tasks that were given their tickets later
            return now - self.seen > WAITING_S
        ident, native_id = self.thread
        slices = times_on_processor(native_id)
        if slices != self.slices or not self.ran:
            self.slices, self.ran = slices, now
        idle_s, functions = now - self.ran, waits_of(ident)
        return idle_s > PATIENCE_S or (bool(functions) and idle_s > (FULL_S if "put" in functions else WAITING_S))


def waits_of(ident: int) -> list[str]:
    """Names of the functions of the standard library in which a thread waits for others; empty if it does not."""
    frame = sys._current_frames().get(ident)
    names = [] if frame is not None else ["ended"]
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(WAITS):
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return names


def times_on_processor(native_id: int) -> str:
    """How often a thread was put on a processor. Source: `schedstat` of Linux; empty where nothing tells it."""
    try:
        with open("/proc/%d/schedstat" % native_id, encoding="ascii") as file:
            return file.read().split()[2]
    except (OSError, IndexError):  # it has ended, or this is another system
        return ""
