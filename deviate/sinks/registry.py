"""Sinks by name: which callables report values, and which of their arguments carry them.

A sink is a function with the signature of the callable it stands for; it yields how each argument carries values.
It never looks into the arguments, so the same function serves the analysis (which binds expressions) and the guest
(which binds values). Standard library only and Python 3.8, for sinks travel with the guest.
"""

import fnmatch
import inspect


class Message:
    """Text for a reader: values stand in it as text, or the argument is itself a value."""

    def __init__(self, value):
        self.value = value


class Template:
    """A `%` template and the arguments that fill it, as `logging` takes them."""

    def __init__(self, template, arguments):
        self.template = template
        self.arguments = arguments


class Sink:
    """One way of reporting.

    Attributes:
        name: what the user sees in tables and JSON.
        names: qualified names of the callables; a call's result is written `module.function()`.
        spellings: patterns (fnmatch, lower case) of the callee's text, for receivers whose type cannot be known.
    """

    def __init__(self, name, names, spellings, carry):
        self.name = name
        self.names = frozenset(names)
        self.spellings = tuple(spellings)
        self.carry = carry
        self.signature = inspect.signature(carry)

    def carried(self, positional, named):
        """How the arguments of one call carry values: a list of `Message` and `Template`; empty if they do not fit."""
        try:
            bound = self.signature.bind(*positional, **named)
        except TypeError:
            return []
        return list(self.carry(*bound.args, **bound.kwargs))


SINKS = []


def sink(name, names, spellings=()):
    """Register the decorated function as the sink `name`."""

    def register(carry):
        SINKS.append(Sink(name, names, spellings, carry))
        return carry

    return register


def find_sink(qualified, spelling):
    """The sink of a callee, by its qualified name (None when unknown) or else by how it is spelled; None if no sink."""
    for candidate in SINKS:
        if qualified in candidate.names:
            return candidate
    lowered = spelling.lower()
    for candidate in SINKS:
        if any(fnmatch.fnmatchcase(lowered, pattern) for pattern in candidate.spellings):
            return candidate
    return None
