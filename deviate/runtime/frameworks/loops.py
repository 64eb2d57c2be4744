"""Loops in which the script calls a trained model itself: their outputs, batch by batch, for several adapters."""

from __future__ import annotations

import weakref

from ..parts import Guest
from .capture_sets import MOST_WAITING, Sets, arrays_in, join, numbers, size_of

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Protocol

    class Proof(Protocol):
        """Whoever knows which models an optimizer has updated."""

        def is_trained(self, model: Any) -> bool: ...


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
        self.batches.append((outputs, truth, inputs))
        self.size += sum(size_of(each) for each in arrays_in([outputs, inputs]))
        if self.size > MOST_WAITING:
            self.batches = [tuple(map(numbers, batch)) for batch in self.batches]
            self.size = 0


class Loops:
    """The loops of the evaluation that goes on."""

    def __init__(self, guest: Guest, framework: str, proof: Proof) -> None:
        self.capture = guest.capture
        self.recorder = guest.recorder
        self.proof = proof
        self.sets = Sets(guest, framework)
        self.loops: list[Loop] = []
        self.trained: weakref.WeakSet[Any] = weakref.WeakSet()
        self.capture.at_end.append(self.hand_over)

    def is_trained(self, model: Any) -> bool:
        if model not in self.trained:
            if not self.proof.is_trained(model):
                return False
            self.trained.add(model)
        return True

    def known(self, root: Any, name: str = "") -> Loop | None:
        """The loop of this step of the main loop that is known by something, of any name or of this one."""
        step = self.capture.step()
        known = (it for it in self.loops if it.root is root and it.step == step and name in ("", it.name))
        return next(known, None)

    def begin(self, name: str, data: Any, root: Any) -> Loop:
        self.loops.append(Loop(name, data, root, self.capture.step()))
        return self.loops[-1]

    def called(self, model: Any, inputs: list[Any], outputs: Any, frame: FrameType) -> None:
        """A model has been called, and the numbers are there; a loop is known by the array that it goes through."""
        has_rows = inputs and len(getattr(outputs, "shape", ()))
        if has_rows and self.capture.is_home() and self.is_trained(model):
            name, root = self.sets.name(inputs[0], frame)
            loop = self.known(root, name) or self.begin(name, root, root)
            loop.add(outputs, numbers(self.sets.beside(inputs[0], frame)), inputs)

    def scores(self, truth: Any, outputs: Any) -> None:
        """A metric is told of true labels and outputs, which may be those of the latest call."""
        if self.loops and self.loops[-1].batches:
            last, labels, inputs = self.loops[-1].batches[-1]
            if last is outputs and labels is None:
                self.loops[-1].batches[-1] = last, numbers(truth), inputs

    def hand_over(self) -> None:
        """The evaluation is over."""
        loops, self.loops = self.loops, []
        for loop in loops:
            outputs, truth, inputs = join(loop.batches)
            self.sets.put(loop.name, loop.data, outputs, truth, inputs, step=loop.step)
