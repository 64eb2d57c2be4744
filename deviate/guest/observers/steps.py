"""The training steps of one framework, taken down for a trace whose arrays NumPy reads.

A step is what leads to one update of the weights. An adapter says what belongs to it, in this order: the states of
generators and the weights before, the batch, outputs of modules and of the model, the loss, gradients, and the weights
after. What the level of the trace does not want is not read.
"""

from __future__ import annotations

from types import FrameType

from ..annotations import Any, Iterable
from ..streams import Streams
from .array_trace import States, named_parts, numbered, record, record_batch, record_loss, record_outputs
from .arrays import Arrays
from .trace import Trace
from .trace_levels import MODULES, STEPS


class Steps:
    """Takes down the steps of one framework.

    Args:
        framework: what a fault and the end of a trace call it.

    Attributes:
        has_begun: whether the states and weights before the current step are taken down.
    """

    def __init__(self, trace: Trace, streams: Streams, framework: str, arrays: Arrays) -> None:
        self.trace = trace
        self.framework = framework
        self.arrays = arrays
        self.states = States(trace, streams)
        self.has_begun = False
        self.recorded: set[str] = set()

    def begin(self, weights: Iterable[tuple[str, Any]], states: Iterable[tuple[str, Any]], frame: FrameType) -> None:
        """What a step begins with, once for each: states of generators; weights that were not taken down before."""
        if self.has_begun or self.trace.level < STEPS:
            return
        self.has_begun = True
        place = self.trace.place(frame)
        self.states.record(place)
        for name, state in states:
            record(self.trace, "state", name, self.arrays.numbers(state), place)
        if not self.trace.is_dropped:
            for name, array in weights:
                if name not in self.recorded:
                    self.recorded.add(name)
                    record(self.trace, "weights", name, self.arrays.numbers(array), place)

    def batch(self, name: str, data: Any, frame: FrameType) -> None:
        """Arrays of a batch, however nested: `input`, `target`."""
        if self.trace.level >= STEPS:
            place = self.trace.place(frame)
            for part, array in named_parts(data, name):
                if self.arrays.is_array(array):
                    record_batch(self.trace, part, self.arrays.numbers(array), place)

    def module(self, path: str, outputs: Any, frame: FrameType) -> None:
        """Outputs of a module within the model, or of a compiled function that is treated as one."""
        if self.trace.level >= MODULES:
            numbers = [self.arrays.numbers(array) for _, array in named_parts(outputs, "")]
            record_outputs(self.trace, path, numbers, self.trace.place(frame))

    def forward(self, outputs: Any, frame: FrameType) -> None:
        """Outputs of the model."""
        self._record("forward", enumerate(array for _, array in named_parts(outputs, "")), frame)

    def loss(self, value: Any, frame: FrameType, name: str = "loss", **more: object) -> None:
        """A loss, at every level."""
        if self.trace.level:
            record_loss(self.trace, name, self.arrays.numbers(value), self.trace.place(frame), **more)

    def gradients(self, gradients: Iterable[tuple[str, Any]], frame: FrameType) -> None:
        """Gradients by the names of their weights."""
        self._record("gradient", gradients, frame)

    def update(self, weights: Iterable[tuple[str, Any]], frame: FrameType) -> None:
        """An update is complete: the weights after it, and the next step."""
        self._record("update", weights, frame)
        self.has_begun = False
        if self.trace.level:
            self.trace.tick()

    def _record(self, kind: str, arrays: Iterable[tuple[Any, Any]], frame: FrameType) -> None:
        if self.trace.level >= STEPS:
            place = self.trace.place(frame)
            for name, array in arrays:
                label = numbered("output", name) if kind == "forward" else name
                record(self.trace, kind, label, self.arrays.numbers(array), place)
