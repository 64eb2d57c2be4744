"""Functions in the place of those of modules, which programs cannot distinguish from the originals.

Functions written in C need more than a wrapper:
A function of Python would become a method where a class holds it as an attribute, as in `timer = time.perf_counter`;
it would be missing in sets such as `os.supports_fd`; and it could not be pickled.
"""

from __future__ import annotations

from functools import partial

from .annotations import Any, Callable
from .seeds import wraps_like


class StandIn(partial):  # type: ignore[type-arg]  # Python 3.8 knows no partial[Any]
    """A callable without binding, which is equal to the original and is pickled by name."""

    __wrapped__: Any
    __name__: str

    def __get__(self, instance: object, owner: type | None = None) -> StandIn:
        return self

    def __eq__(self, other: object) -> bool:
        return self is other or bool(other == self.__wrapped__)

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> str:
        return self.__name__


def stand_in(owner: Any, name: str, function: Callable[..., Any]) -> None:
    """Put a function in the place of the function `owner.name`, which is written in C."""
    replace(owner, name, StandIn(function))


def replace(owner: Any, name: str, function: Any) -> None:
    """Put a function in the place of the function or method `owner.name`, which is written in Python."""
    replacement = wraps_like(function, getattr(owner, name))
    replacement.autograph_info__ = {}  # AutoGraph calls it and does not convert it, as with those of libraries
    if not isinstance(owner, type):
        replacement.__module__ = owner.__name__  # `os.listdir` is of `posix`, where the original stays
    setattr(owner, name, replacement)
