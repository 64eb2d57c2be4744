"""One bit: which weight it is flipped in, and the number that has it flipped. Frameworks read and write the bytes."""

from __future__ import annotations

import hashlib
import sys

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Iterator, Sequence

TRIES = 100
"""NaN and infinities are passed over; where nearly nothing else is left, there is no weight for a bit."""


def places(seed: str, shapes: Sequence[Sequence[int]]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Candidates in order: the number of an array and the index of an element; the first that is finite is to be taken.

    Uniform over the elements of all arrays with two or more dimensions; nothing comes where there is no such array.

    Args:
        seed: the level of the control `one-bit`.

    Source: SHA-256 of ("one-bit", seed, k) for the k-th candidate, modulo the number of elements.
    """
    sizes = [_product(shape) if len(shape) >= 2 else 0 for shape in shapes]
    total = sum(sizes)
    for k in range(TRIES if total else 0):
        text = "\x1f".join(("one-bit", str(seed), str(k)))
        place = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest(), "big") % total
        for number, size in enumerate(sizes):
            if place < size:
                yield number, unravelled(place, shapes[number])
                break
            place -= size


def unravelled(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of the element that has this place in C order."""
    index: list[int] = []
    for size in reversed(shape):
        index.append(place % size)
        place //= size
    return tuple(reversed(index))


def flipped(raw: bytes) -> bytes:
    """The bytes of a floating-point number with the lowest bit of its significand flipped.

    Args:
        raw: a number of any binary type, in the byte order of the machine.

    Source: IEEE 754-2019, section 3.4 (the significand's field comes last); so have bfloat16 and the types of 8 bits.
    """
    number = int.from_bytes(raw, _ORDER) ^ 1
    return number.to_bytes(len(raw), _ORDER)


_ORDER = sys.byteorder


def _product(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
