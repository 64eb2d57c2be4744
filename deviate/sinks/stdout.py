"""Sinks `stdout` and `stderr`: text written to a standard stream."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message
from .registry import methods, sink

WRITES = ("write", "writelines")


@sink("stdout", methods(["sys.stdout", "sys.__stdout__"], WRITES), methods(["*stdout"], WRITES))
def write(text: Any) -> Iterator[Message]:
    """One text, or with `writelines` a list of them."""
    yield Message(text)


@sink("stderr", methods(["sys.stderr", "sys.__stderr__"], WRITES), methods(["*stderr"], WRITES))
def write_error(text: Any) -> Iterator[Message]:
    """The same to the other stream."""
    yield Message(text)
