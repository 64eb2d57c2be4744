"""Probes: places in a compiled program that hand out a value each time the program runs, for traces of level 3.

An adapter inserts probes while the library traces the program. The values of a call arrive in any order and in any
thread. They are recorded after the call, in the order in which the probes were inserted.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from types import FrameType

from ..annotations import Any, Array
from .steps import ObservedSteps, checksum, numbered
from .trace import MODULES

MODULE, OF_MODULE, GRADIENT = "module", "module-gradient", "gradient"
BACKWARD = (OF_MODULE, GRADIENT)
"""Kinds of the backward pass, in order; its gradients arrive from the last module to the first."""
ALL_BITS = (1 << 64) - 1
NOTE = (
    "level 3 adds outputs to the compiled programs of both runs, so they may round differently from those of the other "
    "levels; noise that only the unchanged programs have does not appear"
)


class Probe:
    """One place in a program.

    Attributes:
        kind, name, place, more: of its records.
        number: position among all probes of the process.
    """

    def __init__(self, kind: str, name: str, place: int, number: int, more: dict[str, Any]) -> None:
        self.kind = kind
        self.name = name
        self.place = place
        self.number = number
        self.more: dict[str, Any] = more
        self._of_gradient: Probe | None = None

    @property
    def of_gradient(self) -> Probe:
        """The probe of the gradient of the same value."""
        if self._of_gradient is None:
            self._of_gradient = Probe(OF_MODULE, self.name, self.place, self.number, {})
        return self._of_gradient


class Probes:
    """Probes of the programs of one framework. A subclass inserts them.

    Attributes:
        is_open: whether the current call is one of those that are recorded, so that what it traces receives probes.
    """

    def __init__(self, steps: ObservedSteps, framework: str) -> None:
        self.steps = steps
        self.framework = framework
        self.trace = steps.trace
        self.is_wanted = self.trace.requested_level >= MODULES
        self.is_open = False
        self.pid = os.getpid()
        self.n_probes = 0
        self.values: list[tuple[Probe, Value]] = []
        self.gradients_seen: dict[int, Any] = {}

    # ------------------------------------------------------------ calls of programs

    def begin(self) -> None:
        """A call of a program begins whose values are wanted."""
        self.is_open = self.is_wanted
        self.values = []
        self.gradients_seen = {}

    def end(self) -> None:
        """It has ended, and its results can be read."""
        self.is_open = False
        self.gradients_seen = {}

    def wait(self, result: Any) -> None:
        """Wait until a program has given its result."""

    def write_forward(self) -> None:
        """Record the outputs of modules."""
        self._write((MODULE,))

    def write_backward(self, *, has_gradients: bool = False) -> None:
        """Record gradients.

        Args:
            has_gradients: whether the gradients of weights are recorded anyway, as results.
        """
        self._write((OF_MODULE,) if has_gradients else BACKWARD)

    def _write(self, kinds: tuple[str, ...]) -> None:
        by_probe: dict[Probe, list[Value]] = {}
        for probe, value in [pair for pair in self.values if pair[0].kind in kinds]:
            by_probe.setdefault(probe, []).append(value)
        self.values = [pair for pair in self.values if pair[0].kind not in kinds]
        for probe in sorted(by_probe, key=_order):
            self._record(probe, by_probe[probe])

    def _record(self, probe: Probe, values: list[Value]) -> None:
        """Record what arrived; if a probe ran several times, in a loop or on several devices, as one record."""
        first, more = values[0], dict(probe.more)
        digest, form, array = first.digest, first.form, first.array
        if len(values) > 1:
            digest = sum(value.digest for value in values) & ALL_BITS
            form = form if all(value.form == form for value in values) else ""
            array, more["calls"] = None, len(values)
        elif first.sums:
            more["sums"] = first.sums
        give = None if array is None else partial(_same, array)
        self.trace.record(probe.kind, probe.name, digest, form, probe.place, give, **more)

    # ------------------------------------------------------------ values

    def receive(self, probe: Probe, array: Any) -> None:
        """A program hands out a value, which is only valid during this call."""
        trace = self.trace
        if trace.level < MODULES or os.getpid() != self.pid:
            return
        with trace.recorder.guarded("trace of %s" % self.framework):
            is_kept = (probe.kind, probe.name) == trace.keep
            self.values.append((probe, Value(array, has_sums=trace.has_sums, is_kept=is_kept)))

    def module(self, path: str, result: Any, place: int) -> Any:
        """The outputs of a module, with a probe in each array."""
        if not self.is_open:
            return result
        with self.trace.recorder.guarded("trace of %s" % self.framework):
            return self._module(path, result, place)
        return result

    def gradients(self, names: list[str], arrays: list[Any], place: int) -> list[Any]:
        """Gradients, with a probe in each."""
        if not self.is_open:
            return arrays
        with self.trace.recorder.guarded("trace of %s" % self.framework):
            return [self._gradient(name, array, place) for name, array in zip(names, arrays)]
        return arrays

    def _gradient(self, name: str, array: Any, place: int) -> Any:
        """A gradient with a probe, which it may have already."""
        if id(array) in self.gradients_seen:
            return array
        probed = self.insert(self._probe(GRADIENT, name, place), array)
        self.gradients_seen[id(probed)] = probed
        return probed

    def _module(self, path: str, result: Any, place: int) -> Any:
        leaves, rebuild = self.split(result)
        n_outputs = sum(map(self.can_insert, leaves))
        number = 0
        for at, leaf in enumerate(leaves):
            if self.can_insert(leaf):
                probe = self._probe(MODULE, numbered(path, number), place, outputs=n_outputs)
                leaves[at] = self.insert(probe, leaf)
                number += 1
        return rebuild(leaves)

    def _probe(self, kind: str, name: str, place: int, **more: Any) -> Probe:
        if not self.n_probes:
            self.trace.note(self.framework, NOTE)
        self.n_probes += 1
        return Probe(kind, name, place, self.n_probes, more)

    # ------------------------------------------------------------ of a framework

    def place(self, frame: FrameType | None) -> int:
        """Number of the nearest place in the project."""
        return self.trace.place(frame)

    def split(self, result: Any) -> tuple[list[Any], Any]:
        """The parts of a result, and what puts them together again."""
        raise NotImplementedError

    def can_insert(self, array: Any) -> bool:
        """Whether a value is one of the program that is being traced, and has numbers."""
        raise NotImplementedError

    def insert(self, probe: Probe, array: Any) -> Any:
        """The same value, with a probe; the value itself if that is impossible."""
        raise NotImplementedError


class Value:
    """What is known of a value that arrived."""

    __slots__ = ("array", "digest", "form", "sums")

    def __init__(self, array: Any, *, has_sums: bool, is_kept: bool) -> None:
        numpy = sys.modules["numpy"]
        array = numpy.ascontiguousarray(array).reshape(numpy.shape(array))
        data = array.reshape(-1).view(numpy.uint8)
        self.form = "%s[%s]" % (array.dtype, ",".join(map(str, array.shape)))
        self.digest = checksum(data, self.form)
        self.sums: list[float] = []
        if has_sums and "float" in array.dtype.name:
            double = array.astype("float64")
            self.sums = [float(double.sum()), float(abs(double).sum())]
        self.array: Array | None = (str(array.dtype), array.shape, data.tobytes()) if is_kept else None


def _same(array: Array) -> Array:
    return array


def _order(probe: Probe) -> tuple[int, int]:
    """Gradients of modules come from the last module to the first."""
    return (probe.kind == GRADIENT, -probe.number if probe.kind == OF_MODULE else probe.number)
