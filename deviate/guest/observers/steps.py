"""The training steps of one framework, taken down for a trace.

A step is what leads to one update of the weights. An adapter reports, in this order: the states of generators and the
weights before, the batch, outputs of modules and of the model, the loss, gradients, and the weights after. What the
level of the trace does not want is not read. Places are those of `Trace.place`.
"""

from __future__ import annotations

from functools import partial

from ..annotations import Any, Callable, Iterable
from ..streams import Streams
from .array_trace import States, numbered, record, record_batch, record_loss
from .trace import Trace
from .trace_levels import MODULES, STEPS


class Records:
    """How arrays of a framework become records of a trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def record(self, kind: str, name: str, array: Any, place: int, **more: object) -> None:
        """Record an array, unless it cannot be read now."""
        raise NotImplementedError

    def record_batch(self, name: str, array: Any, place: int) -> None:
        """Record a part of a batch, with a checksum for each row."""
        raise NotImplementedError

    def record_loss(self, name: str, value: Any, place: int, **more: object) -> None:
        """Record a loss with its value."""
        raise NotImplementedError


class HostRecords(Records):
    """Reads the numbers of arrays at once.

    Args:
        numbers: gives the NumPy array of an array of the framework.
    """

    def __init__(self, trace: Trace, numbers: Callable[[Any], Any]) -> None:
        super().__init__(trace)
        self.numbers = numbers

    def record(self, kind: str, name: str, array: Any, place: int, **more: object) -> None:
        record(self.trace, kind, name, self.numbers(array), place, **more)

    def record_batch(self, name: str, array: Any, place: int) -> None:
        record_batch(self.trace, name, self.numbers(array), place)

    def record_loss(self, name: str, value: Any, place: int, **more: object) -> None:
        record_loss(self.trace, name, self.numbers(value), place, **more)


class Steps:
    """Takes down the steps of one framework.

    Args:
        framework: what a fault and the end of a trace call it.

    Attributes:
        attempt: calls a function if the process is traced; an error in it is recorded as a fault of the guest.
    """

    def __init__(self, trace: Trace, streams: Streams, framework: str, records: Records) -> None:
        self.trace = trace
        self.framework = framework
        self.records = records
        self.generators = States(trace, streams)
        self.attempt = partial(trace.attempt, "trace of %s" % framework)

    @property
    def wants_steps(self) -> bool:
        """Whether more than losses is taken down."""
        return self.trace.level >= STEPS

    def shared_states(self, place: int) -> None:
        """States of the generators of Python and NumPy, which come before those of the framework."""
        if self.wants_steps:
            self.generators.record(place)

    def states(self, states: Iterable[tuple[str, Any]], place: int) -> None:
        """States of generators of the framework."""
        self._record("state", states, place)

    def weights(self, weights: Iterable[tuple[str, Any]], place: int) -> None:
        """Weights before an update; the caller knows which ones have been taken down before."""
        self._record("weights", weights, place)

    def batch(self, parts: Iterable[tuple[str, Any]], place: int) -> None:
        """Parts of a batch: `input`, `target`, `weight`."""
        if self.wants_steps:
            for name, part in parts:
                self.records.record_batch(name, part, place)

    def module(self, path: str, outputs: Iterable[Any], place: int) -> None:
        """Outputs of a module within the model, or of a compiled function that is treated as one."""
        if self.trace.level >= MODULES:
            arrays = list(outputs)
            for number, array in enumerate(arrays):
                self.records.record("module", numbered(path, number), array, place, outputs=len(arrays))

    def forward(self, outputs: Iterable[tuple[str, Any]], place: int) -> None:
        """Outputs of the model: `output`, `output[1]`."""
        self._record("forward", outputs, place)

    def loss(self, value: Any, place: int, name: str = "loss", **more: object) -> None:
        """A loss, at every level."""
        if self.trace.level:
            self.records.record_loss(name, value, place, **more)

    def gradients(self, gradients: Iterable[tuple[str, Any]], place: int) -> None:
        """Gradients by the names of their weights."""
        self._record("gradient", gradients, place)

    def update(self, weights: Iterable[tuple[str, Any]], place: int) -> None:
        """Weights after an update, and what belongs to the optimizer; the step goes on until `Trace.tick`."""
        self._record("update", weights, place)

    def _record(self, kind: str, arrays: Iterable[tuple[str, Any]], place: int) -> None:
        if self.wants_steps:
            for name, array in arrays:
                self.records.record(kind, name, array, place)
