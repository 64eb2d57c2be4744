"""Regions: functions and constructors whose random draws belong to one stream."""

from __future__ import annotations

from types import MethodType

from .annotations import Any, Callable
from .seeds import wraps_like
from .streams import Streams

INIT = "init"


def region(streams: Streams, stream: str, function: Any) -> Any:
    """Wrap a function so that it draws from a stream."""

    def inside(*args: Any, **kwargs: Any) -> Any:
        before = streams.enter(stream)
        try:
            return function(*args, **kwargs)
        finally:
            streams.leave(before)

    return wraps_like(inside, function)


class Region:
    """A context in which draws belong to a stream."""

    __slots__ = ("before", "stream", "streams")

    def __init__(self, streams: Streams, stream: str) -> None:
        self.streams = streams
        self.stream = stream

    def __enter__(self) -> None:
        self.before = self.streams.enter(self.stream)

    def __exit__(self, *_: object) -> None:
        self.streams.leave(self.before)


class Held:
    """A context in which an attribute has another value, such as a count that is larger by one."""

    __slots__ = ("before", "name", "owner", "value")

    def __init__(self, owner: Any, name: str, value: Any) -> None:
        self.owner = owner
        self.name = name
        self.value = value

    def __enter__(self) -> None:
        self.before = getattr(self.owner, self.name)
        setattr(self.owner, self.name, self.value)

    def __exit__(self, *_: object) -> None:
        setattr(self.owner, self.name, self.before)


def at_subclass(owner: Any, act: Callable[[Any], object]) -> None:
    """Call a function for every class that is derived from a class."""

    def __init_subclass__(cls: Any, /, **kwargs: Any) -> None:  # noqa: N807
        super(owner, cls).__init_subclass__(**kwargs)
        act(cls)

    owner.__init_subclass__ = classmethod(__init_subclass__)


class Constructor:
    """A method of initialisation that is a region if it is the outermost one.

    Accessed on the class it is the original function, since libraries inspect its signature; inside another constructor
    it is not wrapped, since some libraries search the frames of constructors for arguments.
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
        # Pickling a class by value pickles the original function, so that unpickling does not require the guest.
        return max, ((self.function,),)
