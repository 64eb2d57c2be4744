"""One bit: selects the weight, and computes the number with the bit flipped. Frameworks read and write the bytes."""

from __future__ import annotations

import math
import sys

from ..annotations import Any, Callable, Iterator, Sequence
from ..recorder import Recorder

TRIES = 100
"""NaN and infinities are passed over; where nearly nothing else is left, there is no weight for a bit."""


class Moment:
    """When the bit is flipped: before the first training step, or the first one of a later main-loop step.

    Args:
        step: the level of the control `one-bit-step`, a number of the main loop's steps from 0.

    Attributes:
        is_due: whether that step has begun.
        at_step: told when it begins, unless it is the first of all.
    """

    def __init__(self, step: str, recorder: Recorder) -> None:
        self.step = int(step)
        self.is_due = not self.step
        self.recorder = recorder
        self.at_step: list[Callable[[], object]] = []
        if self.step:
            recorder.at_main_step.append(self._reach)

    def _reach(self, step: int) -> None:
        if step >= self.step and not self.is_due:
            self.is_due = True
            self.recorder.tell(self.at_step)

    def record_miss(self, otherwise: str) -> None:
        """Record why no bit was flipped, in words."""
        early = "step %d of the main loop, before which one-bit was to come" % self.step
        self.recorder.event("uncontrolled", otherwise if self.is_due else early, "", 0)


def places(seed: str, shapes: Sequence[Sequence[int]]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield candidates in order: number of an array, and index of an element; the first finite one is used.

    Candidates are uniform over the elements of all arrays with two or more dimensions; without such arrays there are
    none.

    Args:
        seed: the level of the control `one-bit`.

    Source: SHA-256 of ("one-bit", seed, k) for the k-th candidate, modulo the number of elements.
    """
    import hashlib  # loads OpenSSL, and most runs flip nothing

    sizes = [math.prod(shape) if len(shape) >= 2 else 0 for shape in shapes]
    total = sum(sizes)
    for k in range(TRIES if total else 0):
        text = "\x1f".join(("one-bit", str(seed), str(k)))
        place = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest(), "big") % total
        for number, size in enumerate(sizes):
            if place < size:
                yield number, unravel_index(place, shapes[number])
                break
            place -= size


def unravel_index(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of the element at a position in C order."""
    index: list[int] = []
    for size in reversed(shape):
        index.append(place % size)
        place //= size
    return tuple(reversed(index))


def flip_lowest_bit(raw: bytes) -> bytes:
    """The bytes of a floating-point number with the lowest bit of its significand flipped.

    Args:
        raw: a number of any binary type, in the byte order of the machine.

    Source: IEEE 754-2019, section 3.4 (the significand's field comes last); so have bfloat16 and the types of 8 bits.
    """
    number = int.from_bytes(raw, _ORDER) ^ 1
    return number.to_bytes(len(raw), _ORDER)


def flip_element(array: Any, index: tuple[int, ...]) -> tuple[Any, float, float] | None:
    """Flip the lowest bit of an element of a NumPy array; returns the array, and the value before and after."""
    before = float(array[index])
    if not math.isfinite(before):
        return None
    numpy = sys.modules["numpy"]
    changed = numpy.array(array)
    changed[index] = numpy.frombuffer(flip_lowest_bit(array[index].tobytes()), array.dtype)[0]
    return changed, before, float(changed[index])


_ORDER = sys.byteorder
