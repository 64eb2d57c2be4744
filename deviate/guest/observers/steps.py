"""The training steps of one framework, taken down for a trace.

A step is what leads to one update of the weights. An adapter reports, in this order: the states of generators and the
weights before, the batch, outputs of modules and of the model, the loss, gradients, and the weights after. What the
level of the trace does not want is not read. Places are those of `Trace.place`.
"""

from __future__ import annotations

import sys
from functools import partial
from zlib import crc32

from ..annotations import Any, Callable, Iterable, Iterator
from ..streams import Streams
from .trace import MODULES, STEPS, TraceWriter

MOST_ROWS = 4096
"""Rows of an array that have a checksum of their own."""
SHARED = {"random": "python", "numpy": "numpy"}
"""Libraries whose global generators are read here, and what records call them."""


def checksum(buffer: Any, form: str = "") -> int:
    """CRC-32 of the form and the bytes of an array, in [0, 2**32).

    Source: ISO 3309 (1993); one changed stretch of at most 32 bits always shows.
    """
    return crc32(buffer, crc32(form.encode("ascii", "backslashreplace")))


def row_checksums(buffer: Any, n_rows: int) -> list[int]:
    """CRC-32 of each row of an array, up to MOST_ROWS rows; rows have equal length."""
    view = memoryview(buffer)
    if not n_rows or not view.nbytes:
        return []
    view = view.cast("B")
    size = len(view) // n_rows
    return [crc32(view[row * size : (row + 1) * size]) for row in range(min(n_rows, MOST_ROWS))]


def numbered(name: str, number: int) -> str:
    """The name of one of several outputs; the first has the name without a number."""
    return "%s[%d]" % (name, number) if number else name


class States:
    """States of the global generators of Python and NumPy; idle ones are skipped when traces are read."""

    def __init__(self, trace: TraceWriter, streams: Streams) -> None:
        self.trace = trace
        self.streams = streams

    def record(self, place: int = -1) -> None:
        """Record the states, one per stream if seeds are controlled."""
        for name, state in self._of_streams() if self.streams.is_active else self._global():
            self.trace.record("state", name, crc32(repr(state).encode("utf-8")), "", place)

    def _of_streams(self) -> Iterator[tuple[str, object]]:
        for bank in self.streams.banks:
            if bank.library in SHARED:
                states = {**bank.states, self.streams.now: bank.get_state()}
                for stream in sorted(states):
                    yield "%s/%s" % (SHARED[bank.library], stream), bank.fingerprint(states[stream])

    def _global(self) -> Iterator[tuple[str, object]]:
        if "random" in sys.modules:
            yield "python", sys.modules["random"].getstate()
        if "numpy.random" in sys.modules:
            kind, key, *rest = sys.modules["numpy"].random.get_state()
            yield "numpy", (kind, key.tobytes(), rest)


def named_parts(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Name values with a type and a shape in nested lists and dictionaries: "input", "input[1]", "input.labels"."""
    if isinstance(value, dict):
        for key in value:
            yield from named_parts(value[key], "%s.%s" % (name, key))
    elif isinstance(value, (list, tuple)):
        for place, part in enumerate(value):
            yield from named_parts(part, "%s[%d]" % (name, place) if place else name)
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        yield name, value


def buffer(array: Any) -> Any:
    """The bytes of an array, in C order."""
    numpy = sys.modules["numpy"]
    return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)


class StepRecords:
    """How arrays of a framework become records of a trace: their numbers are read at once, unless a class overrides it.

    Args:
        numbers: gives the NumPy array or scalar of an array of the framework.
    """

    def __init__(self, trace: TraceWriter, numbers: Callable[[Any], Any]) -> None:
        self.trace = trace
        self.numbers = numbers

    def record(self, kind: str, name: str, array: Any, place: int, **more: object) -> None:
        """Record an array, unless it cannot be read now."""
        self._record(kind, name, self.numbers(array), place, **more)

    def record_batch(self, name: str, array: Any, place: int) -> None:
        """Record a part of a batch, with a checksum for each row."""
        values = self.numbers(array)
        if not values.dtype.hasobject:
            rows = row_checksums(buffer(values), len(values)) if values.ndim else []
            self._record("batch", name, values, place, rows=rows)

    def record_loss(self, name: str, value: Any, place: int, **more: object) -> None:
        """Record a loss with its value."""
        values = self.numbers(value)
        self._record("loss", name, values, place, value=float(values), **more)

    def _record(self, kind: str, name: str, values: Any, place: int, **more: object) -> None:
        """Record a NumPy array or scalar; object arrays are skipped, as their bytes are addresses."""
        if values.dtype.hasobject:
            return
        form, data = "%s[%s]" % (values.dtype, ",".join(map(str, values.shape))), buffer(values)
        if self.trace.has_sums and "float" in values.dtype.name:
            double = values.astype("float64")
            more["sums"] = [float(double.sum()), float(abs(double).sum())]
        array = str(values.dtype), values.shape, data
        self.trace.record(kind, name, checksum(data, form), form, place, lambda: array, **more)


class ObservedSteps:
    """Takes down the steps of one framework.

    Args:
        framework: what a fault and the end of a trace call it.

    Attributes:
        attempt: calls a function if the process is traced; an error in it is recorded as a fault of the guest.
    """

    def __init__(self, trace: TraceWriter, streams: Streams, framework: str, records: StepRecords) -> None:
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
