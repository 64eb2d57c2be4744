"""Sinks by name: which callables report values, and which of their arguments carry them.

A sink is a function with the signature of the callable it stands for; it yields how each argument carries values.
It never looks into the arguments, so the same function serves the analysis (which binds expressions) and the guest
(which binds values). Standard library only and Python 3.8, for sinks travel with the guest.
"""

from __future__ import annotations

import fnmatch
import inspect
from typing import Any, Callable, Iterable, Mapping, Sequence, Union


class Message:
    """Text for a reader: values stand in it as text, or the argument is itself a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Template:
    """A `%` template and the arguments that fill it, as `logging` takes them."""

    def __init__(self, template: Any, arguments: Sequence[Any]) -> None:
        self.template = template
        self.arguments = arguments


Carried = Union[Message, Template]
Carry = Callable[..., Iterable[Carried]]


class Sink:
    """One way of reporting.

    Attributes:
        name: what the user sees in tables and JSON.
        names: qualified names of the callables; a call's result is written `module.function()`.
        spellings: patterns (fnmatch, lower case) of the callee's text, for receivers whose type cannot be known.
    """

    def __init__(self, name: str, names: Iterable[str], spellings: Iterable[str], carry: Carry) -> None:
        self.name = name
        self.names = frozenset(names)
        self.spellings = tuple(spellings)
        self.carry = carry
        self.signature = inspect.signature(carry)

    def carried(self, positional: Sequence[Any], named: Mapping[str, Any]) -> list[Carried]:
        """How the arguments of one call carry values: a list of `Message` and `Template`; empty if they do not fit."""
        try:
            bound = self.signature.bind(*positional, **named)
        except TypeError:
            return []
        return list(self.carry(*bound.args, **bound.kwargs))


SINKS: list[Sink] = []


def sink(name: str, names: Iterable[str], spellings: Iterable[str] = ()) -> Callable[[Carry], Carry]:
    """Register the decorated function as the sink `name`."""

    def register(carry: Carry) -> Carry:
        SINKS.append(Sink(name, names, spellings, carry))
        return carry

    return register


def find_sink(qualified: str | None, spelling: str) -> Sink | None:
    """The sink of a callee, by its qualified name (None when unknown) or else by how it is spelled; None if no sink."""
    for candidate in SINKS:
        if qualified in candidate.names:
            return candidate
    lowered = spelling.lower()
    for candidate in SINKS:
        if any(fnmatch.fnmatchcase(lowered, pattern) for pattern in candidate.spellings):
            return candidate
    return None
