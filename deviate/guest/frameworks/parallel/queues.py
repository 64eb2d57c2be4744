"""Queues: the order in which the items of several producers arrive.

An item is told by itself if it is a number, a text, or has one among its parts; otherwise by the thread of the program
that put it in. What libraries do with their queues is not recorded.
"""

from __future__ import annotations

import threading
from itertools import count
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...project import beyond
from ...seeds import wraps_like
from .orders import Orders, is_of_program

SIMPLE = frozenset((int, bool, str, type(None)))
MOST_PARTS = 8
LONGEST_TEXT = 30
MOST_BITS = 128
PRODUCERS, NUMBER = "_deviate_producers", "_deviate_number"
"""Attributes: of queues, numbers of the threads that put items in, by the ids of these; of threads, their number."""


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


def record_queues(module: Any, context: AdapterContext) -> None:
    _record_puts(module.Queue, context)
    _record_gets(module.Queue, context)


def record_process_queues(module: Any, context: AdapterContext) -> None:
    for name in ("Queue", "SimpleQueue"):
        _record_gets(getattr(module, name), context)


def _record_puts(queue: Any, context: AdapterContext) -> None:
    original, orders = queue.put, context.part(Orders)

    def put(self: Any, item: Any, block: Any = True, timeout: Any = None) -> Any:
        if text_of(item) or not context.inputs.is_active or not orders.is_in_project(_caller(queue, _getframe(1))):
            return original(self, item, block, timeout)
        producers = self.__dict__.setdefault(PRODUCERS, {})
        producers.setdefault(id(item), []).append(number_of_thread())
        try:
            return original(self, item, block, timeout)
        except BaseException:
            producers[id(item)].pop()
            raise

    queue.put = wraps_like(put, original)


def _record_gets(queue: Any, context: AdapterContext) -> None:
    original, orders = queue.get, context.part(Orders)
    call = "%s.%s.get" % (queue.__module__.partition(".")[0].lstrip("_"), queue.__name__)
    consumers: dict[int, set[int]] = {}

    def get(self: Any, *args: Any, **kwargs: Any) -> Any:
        item = original(self, *args, **kwargs)
        with context.recorder.guarded(call):
            _record_item(self, item, call, orders.own_place(_caller(queue, _getframe(1))))
        return item

    def _record_item(self: Any, item: Any, call: str, place: int) -> None:
        text = text_of(item)
        threads = getattr(self, PRODUCERS, {}).get(id(item)) if not text else None
        if threads:
            text = threads.pop(0)
            if not threads:
                getattr(self, PRODUCERS).pop(id(item), None)
        if place >= 0 and text:
            order = orders.order_at(call, place, "items from threads" if threads is not None else "items")
            # Where several threads get items, it is chance which one records first.
            consumers.setdefault(place, set()).add(threading.get_ident())
            order.add(text, is_ordered=len(consumers[place]) == 1)

    queue.get = wraps_like(get, original)


def _caller(queue: Any, frame: FrameType | None) -> FrameType | None:
    """Who calls a method of a queue, maybe through another of its methods."""
    return beyond((queue.__module__,), frame)


def text_of(item: Any) -> str:
    """A short text of an item, the same in every run; empty if it has none."""
    if type(item) in SIMPLE:
        return _short(item)
    if type(item) in (tuple, list) and len(item) <= MOST_PARTS and any(type(part) in SIMPLE for part in item):
        return "(%s)" % ", ".join(_short(part) if type(part) in SIMPLE else "..." for part in item)
    return ""


def _short(item: Any) -> str:
    """A number, a text or nothing, with the end of a long text, where paths differ."""
    if type(item) is str and len(item) > LONGEST_TEXT:
        return repr("..." + item[-LONGEST_TEXT:])
    if type(item) is int and item.bit_length() > MOST_BITS:
        return "an integer of %d bits" % item.bit_length()
    return repr(item)
