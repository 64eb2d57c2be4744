"""Names in a sentence."""

from collections.abc import Sequence


def first_few(names: Sequence[str], most: int) -> str:
    """The first names, at most so many, and how many more there are.

    >>> first_few(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def count(n: int, noun: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
