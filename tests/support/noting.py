"""What generated programs use: they tell on standard output what they evaluate, and when."""

# ruff: noqa: T201
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

__all__ = ["Meter", "context", "decorated", "later", "note", "run", "stream", "sys"]


def note(name: str, value: object = 0) -> object:
    print(name, end=" ")
    return value


@contextlib.contextmanager
def context(value: object) -> Iterator[object]:
    print("in", value)
    try:
        yield value
    finally:
        print("out", value)


def decorated(value: object) -> Callable[[object], object]:
    print("decorating", value)
    return lambda function: function


async def later(value: object) -> object:
    print("later")
    return value


async def stream(value: float) -> AsyncIterator[float]:
    for k in range(2):
        yield value + k


def run(coroutine: Coroutine[Any, Any, object]) -> object:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError


class Meter:
    avg = 0.0

    def update(self, value: float, n: int = 1) -> float:
        self.avg = (self.avg + value) * n
        return self.avg

    def __str__(self) -> str:
        return f"meter {self.avg:.3f}"
