"""Loops in which the script calls a trained model itself: collects outputs batch by batch, for several adapters."""

from __future__ import annotations

from types import FrameType

from ..annotations import Any, Mapping
from ..project import Project
from .capture import Capture
from .capture_sets import Sets
from .rows import NOTHING, Batches, numbers


class Loop:
    """One iteration over a dataset, or consecutive calls without one.

    Attributes:
        name: of the data set.
        data: the data set.
        root: by what of it the loop is known.
        step: of the main loop.
        batches: what was put out.
    """

    def __init__(self, name: str, data: Any, root: Any, step: int, batches: Batches) -> None:
        self.name = name
        self.data = data
        self.root = root
        self.step = step
        self.batches = batches

    def add(self, outputs: Any, truth: Any, inputs: list[Any], further: Mapping[str, Any] = NOTHING) -> None:
        self.batches.add(outputs, _snapshot(truth), [_snapshot(each) for each in inputs], further)


class Loops:
    """The loops of the current evaluation."""

    def __init__(self, capture: Capture, project: Project, framework: str) -> None:
        self.capture = capture
        self.recorder = capture.recorder
        self.sets = Sets(capture, project, framework)
        self.loops: list[Loop] = []

    def find_loop(self, root: Any, step: int, name: str | None = None) -> Loop | None:
        """The loop of a step with this root, with any name unless one is passed."""
        matches = (loop for loop in self.loops if loop.root is root and loop.step == step and name in (None, loop.name))
        return next(matches, None)

    def begin(self, name: str, data: Any, root: Any, step: int) -> Loop:
        self.loops.append(Loop(name, data, root, step, Batches(self.capture)))
        return self.loops[-1]

    def loop_of(self, data: Any, frame: FrameType, iterator: Any = None) -> Loop:
        """The loop that a call in this frame belongs to.

        Args:
            data: the first input. iterator: of the loader that yielded it; None where the script has it from elsewhere,
                and calls from one call path belong together.
        """
        step = self.capture.step()
        root = self.sets.way(frame) if iterator is None else iterator
        source = data if iterator is None else getattr(iterator, "loader", iterator)
        name = self.sets.name(source, frame)[0]
        return self.find_loop(root, step, name) or self.begin(name, source, root, step)

    def scores(self, truth: Any, outputs: Any) -> None:
        """A metric is called with labels and outputs, which may belong to the latest call."""
        if self.loops:
            self.loops[-1].batches.label(outputs, lambda: _snapshot(numbers(truth)))

    def hand_over(self) -> None:
        """The evaluation has ended."""
        loops, self.loops = self.loops, []
        for loop in loops:
            with self.recorder.guarded("outputs of %s" % loop.name):
                self.sets.store(loop.name, loop.data, loop.batches, loop.step)


def _snapshot(value: Any) -> Any:
    """A copy of values that the script may overwrite before the evaluation ends."""
    return value.copy() if type(value).__module__ == "numpy" and hasattr(value, "copy") else value
