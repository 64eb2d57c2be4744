"""One bit: flips the lowest bit of one number of one weight, before the first training step or at a later one."""

from __future__ import annotations

import math

from ..annotations import TYPE_CHECKING, Any, Callable, Iterator, Sequence
from ..recorder import Recorder

if TYPE_CHECKING:
    from .arrays import Arrays  # few processes flip a bit

TRIES = 100
"""NaN and infinities are passed over; where nearly nothing else is left, there is no weight for a bit."""


class Moment:
    """When the bit is flipped: before the first training step, or the first one of a later main-loop step.

    Args:
        step: the level of the control `one-bit-step`, a number of the main loop's steps from 0.

    Attributes:
        is_due: whether that step has begun.
        is_over: whether a bit was flipped, in whatever framework.
        at_step: told when it begins, unless it is the first of all.
    """

    def __init__(self, step: str, recorder: Recorder) -> None:
        self.step = int(step)
        self.is_due = not self.step
        self.is_over = False
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


class OneBit:
    """The bit of the weights of one framework, flipped once.

    Args:
        seed: the level of the control `one-bit`; None where no bit is to be flipped.

    Attributes:
        is_pending: whether the bit is still to be flipped.
    """

    def __init__(self, moment: Moment, seed: str | None, arrays: Arrays) -> None:
        self.moment = moment
        self.seed = str(seed)
        self.arrays = arrays
        self.is_pending = seed is not None

    @property
    def is_due(self) -> bool:
        """Whether the bit is to be flipped now."""
        return self.is_pending and self.moment.is_due

    def flip(self, framework: str, weights: Sequence[tuple[str, Any, Sequence[int]]]) -> tuple[int, Any] | None:
        """Flip the bit of one of these weights, and record which one.

        Args:
            framework: what the record calls the framework.
            weights: name, array and shape of each weight; one of another type than floating-point has the shape ().

        Returns:
            the index of the weight, and the array that takes its place; None where no bit was flipped.
        """
        for number, index in places(self.seed, [shape for _, _, shape in weights]):
            name, array, _ = weights[number]
            if not self.arrays.holds(array, index):  # the process that holds it flips it
                self.is_pending, self.moment.is_over = False, True
                return None
            flipped = self.arrays.flip(array, index)
            if flipped is not None:
                self.is_pending, self.moment.is_over = False, True
                self.moment.recorder.event("flip", framework, name, list(index), *flipped[1:])
                return number, flipped[0]
        return None


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
