"""Regions: functions and constructors whose draws are for one stream."""

from __future__ import annotations

from types import MethodType

from .annotations import Any, Callable
from .seeds import wraps_like
from .streams import Streams

INIT = "init"


def region(streams: Streams, stream: str, function: Any) -> Any:
    """The function, drawing from a stream."""

    def inside(*args: Any, **kwargs: Any) -> Any:
        before = streams.enter(stream)
        try:
            return function(*args, **kwargs)
        finally:
            streams.leave(before)

    return wraps_like(inside, function)


class Region:
    """A block of code whose draws are for a stream."""

    __slots__ = ("before", "stream", "streams")

    def __init__(self, streams: Streams, stream: str) -> None:
        self.streams = streams
        self.stream = stream

    def __enter__(self) -> None:
        self.before = self.streams.enter(self.stream)

    def __exit__(self, *_: object) -> None:
        self.streams.leave(self.before)


def at_subclass(owner: Any, act: Callable[[Any], object]) -> None:
    """Act on every class that will be derived from one."""

    def __init_subclass__(cls: Any, /, **kwargs: Any) -> None:  # noqa: N807
        super(owner, cls).__init_subclass__(**kwargs)
        act(cls)

    owner.__init_subclass__ = classmethod(__init_subclass__)


class Constructor:
    """A method that initialises, a region where it is the outermost one.

    Read from a class it is the function itself, for libraries look at its signature; and inside another constructor
    nothing comes between: some go through the frames of constructors to find the arguments of each.
    """

    def __init__(self, function: Any, streams: Streams) -> None:
        self.function = function
        self.streams = streams

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self.function
        bound = MethodType(self.function, instance)
        return bound if self.streams.now == INIT else region(self.streams, INIT, bound)

    def __reduce__(self) -> Any:
        # Who pickles a class by its contents gets the function. Reading it must need nothing of the guest.
        return max, ((self.function,),)
