"""Sink `print`: the built-in function, and the `print` methods that launchers and consoles offer in its place."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message
from .registry import sink


@sink("print", ["builtins.print", "rich.print", "pprint.pprint", "pprint.pp"], ["*.print"])
def report(
    *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False, **options: Any
) -> Iterator[Message]:
    """Every positional argument is part of the line."""
    for value in values:
        yield Message(value)
