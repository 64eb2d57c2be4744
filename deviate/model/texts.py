"""Names and numbers in a sentence."""

import itertools
from collections.abc import Iterable, Iterator, Sequence


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


def numbered(name: str, join: str = "-") -> Iterator[str]:
    """The name, and then the name with numbers from 2: the first one that is free can be taken."""
    yield name
    yield from (f"{name}{join}{number}" for number in itertools.count(2))


def ranges(numbers: Iterable[int]) -> list[str]:
    """Numbers in order, with consecutive ones combined.

    >>> ranges((5, 0, 1, 2))
    ['0–2', '5']
    """
    groups: list[list[int]] = []
    for number in sorted(numbers):
        if groups and number == groups[-1][1] + 1:
            groups[-1][1] = number
        else:
            groups.append([number, number])
    return [str(low) if low == high else f"{low}–{high}" for low, high in groups]
