"""Trace records of host arrays: checksums, checksums of rows, and states of random generators."""

from __future__ import annotations

import sys
from zlib import crc32

from ..annotations import Any, Iterator
from ..streams import Streams
from .checksums import checksum, row_checksums
from .trace import Trace

SHARED = {"random": "python", "numpy": "numpy"}
"""Libraries whose global generators are read here, and what records call them."""


def form_of(array: Any) -> str:
    """Type and shape, such as "float32[512,10]"."""
    return "%s[%s]" % (array.dtype, ",".join(map(str, array.shape)))


def record(trace: Trace, kind: str, name: str, array: Any, place: int = -1, **more: object) -> None:
    """Record a NumPy array or scalar; object arrays are skipped, as their bytes are addresses."""
    if array.dtype.hasobject:
        return
    form, data = form_of(array), buffer(array)
    if trace.has_sums and "float" in array.dtype.name:
        numbers = array.astype("float64")
        more["sums"] = [float(numbers.sum()), float(abs(numbers).sum())]
    trace.record(kind, name, checksum(data, form), form, place, lambda: (str(array.dtype), array.shape, data), **more)


def numbered(name: str, number: int) -> str:
    """The name of one of several outputs; the first has the name without a number."""
    return "%s[%d]" % (name, number) if number else name


def record_batch(trace: Trace, name: str, array: Any, place: int = -1) -> None:
    """Record a part of a batch, with checksums of its rows."""
    if not array.dtype.hasobject:
        rows = row_checksums(buffer(array), len(array)) if array.ndim else []
        record(trace, "batch", name, array, place, rows=rows)


def record_loss(trace: Trace, name: str, array: Any, place: int = -1, **more: object) -> None:
    """Record a loss with its value."""
    record(trace, "loss", name, array, place, value=float(array), **more)


class States:
    """States of the global generators of Python and NumPy; idle ones are skipped when traces are read."""

    def __init__(self, trace: Trace, streams: Streams) -> None:
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
