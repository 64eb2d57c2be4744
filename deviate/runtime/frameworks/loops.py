"""Loops in which the script calls a trained model itself: their outputs, batch by batch, for several adapters."""

from __future__ import annotations

from ..parts import Guest
from .capture_sets import MOST_WAITING, Sets, arrays_in, join, numbers, size_of

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any


class Loop:
    """One way through a data set, or what is called in a row without one.

    Attributes:
        name: of the data set.
        data: the data set.
        root: by what of it the loop is known.
        step: of the main loop.
        batches: outputs, true labels and inputs.
    """

    def __init__(self, name: str, data: Any, root: Any, step: int) -> None:
        self.name = name
        self.data = data
        self.root = root
        self.step = step
        self.batches: list[tuple[Any, Any, Any]] = []
        self.size = 0

    def add(self, outputs: Any, truth: Any, inputs: list[Any]) -> None:
        truth, inputs = _own(truth), [_own(each) for each in inputs]
        self.batches.append((outputs, truth, inputs))
        self.size += sum(size_of(each) for each in arrays_in([outputs, inputs]))
        if self.size > MOST_WAITING:
            self.batches = [tuple(map(numbers, batch)) for batch in self.batches]
            self.size = 0


class Loops:
    """The loops of the evaluation that goes on."""

    def __init__(self, guest: Guest, framework: str) -> None:
        self.capture = guest.capture
        self.recorder = guest.recorder
        self.sets = Sets(guest, framework)
        self.loops: list[Loop] = []

    def known(self, root: Any, step: int, name: str | None = None) -> Loop | None:
        """The loop of a step that is known by something; of any name where none is given."""
        known = (it for it in self.loops if it.root is root and it.step == step and name in (None, it.name))
        return next(known, None)

    def begin(self, name: str, data: Any, root: Any, step: int) -> Loop:
        self.loops.append(Loop(name, data, root, step))
        return self.loops[-1]

    def scores(self, truth: Any, outputs: Any) -> None:
        """A metric is told of true labels and outputs, which may be those of the latest call."""
        if self.loops and self.loops[-1].batches:
            last, labels, inputs = self.loops[-1].batches[-1]
            if last is outputs and labels is None:
                self.loops[-1].batches[-1] = last, _own(numbers(truth)), inputs

    def hand_over(self) -> None:
        """The evaluation is over."""
        loops, self.loops = self.loops, []
        for loop in loops:
            try:
                outputs, truth, inputs = join(loop.batches)
                self.sets.put(loop.name, loop.data, outputs, truth, inputs, step=loop.step)
            except Exception as error:
                self.recorder.fault("outputs of %s" % loop.name, error)


def _own(value: Any) -> Any:
    """What the script may write to before the evaluation is over, as it is now."""
    return value.copy() if type(value).__module__ == "numpy" and hasattr(value, "copy") else value
