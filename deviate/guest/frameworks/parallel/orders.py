"""An order of arrival, recorded item by item; the text of each item shows those before it."""

from __future__ import annotations

from collections import deque
from itertools import count
from threading import get_ident
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterable
from ...observers.inputs import MOST_AT_PLACE, Inputs
from ..inputs.callers import Callers

MOST_SHOWN = 8
"""Items that the text of one shows: itself, and those that arrived before it."""
MACHINERY = ("concurrent.futures", "multiprocessing", "torch.multiprocessing", "_deviate_guest")
"""Modules between the program and its pools. The program's pools are those that it makes itself."""


class TaskOrder:
    """Items in the order in which they arrive at one place of the program.

    Attributes:
        number: gives the number of the next request, by which its result is recorded.

    Args:
        call: what gives the items, for people.
        place: number of the line in the program; -1 records nothing.
        noun: what the items are, in the plural.
        has_end: whether items after the first ones are left out, as are those that arrive in other threads: they
            cannot be summed up step by step, as it is chance which step they arrive in.
    """

    def __init__(self, inputs: Inputs, call: str, place: int, noun: str = "results", *, has_end: bool = False) -> None:
        self.inputs = inputs
        self.call = call
        self.place = place
        self.noun = noun
        self.has_end = has_end
        self.n_items = 0
        self.latest: deque[str] = deque(maxlen=MOST_SHOWN)
        self.number = count().__next__

    def add(self, item: object, *, is_ordered: bool = True) -> None:
        """Record the next item.

        Args:
            is_ordered: whether the order is kept when this thread is not the main one.
        """
        if self.place < 0:
            return
        self.n_items += 1
        if self.n_items > MOST_AT_PLACE and (self.has_end or get_ident() != self.inputs.main_thread):
            return
        self.latest.append(str(item))
        before = ["..."] * (self.n_items > len(self.latest))
        shown = "%s: %s" % (self.noun, ", ".join([*before, *self.latest]))
        self.inputs.record("completion", self.call, str(item), self.place, shown, is_ordered=is_ordered)


class Orders:
    """Orders at places of calls that the program makes itself; what libraries call is no input of the program."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        self.callers = context.part(Callers)
        self.own_place = self.callers.own_place
        self.orders: dict[tuple[str, int], TaskOrder] = {}

    def is_in_project(self, frame: FrameType | None) -> bool:
        return frame is not None and self.callers.is_project(frame)

    def order_at(self, call: str, place: int, noun: str = "results", *, has_end: bool = False) -> TaskOrder:
        """The order of a place where items arrive as long as the program runs."""
        key = (call, place)
        if key not in self.orders:
            self.orders[key] = TaskOrder(self.context.inputs, call, place, noun, has_end=has_end)
        return self.orders[key]


def ranks(numbers: Iterable[int]) -> dict[int, int]:
    """The rank of each number among all."""
    return {number: rank for rank, number in enumerate(sorted(set(numbers)))}


def is_of_program(thread: Any, context: AdapterContext) -> bool:
    """Whether a thread runs a function of the program, and not one of a library."""
    target: Any = getattr(thread, "_target", None)
    while hasattr(target, "func"):
        target = target.func
    function = target if target is not None else getattr(type(thread), "run", None)
    code = getattr(function, "__code__", None)
    return code is not None and context.project.place(code) is not None
