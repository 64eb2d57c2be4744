"""Probes in graphs of TensorFlow: operations that pass a value to the host each time the graph runs."""

from __future__ import annotations

import sys
from functools import partial
from types import FrameType

from ...annotations import Any
from ...observers.probes import GRADIENT, Probe, Probes

XLA = "level 3 compiles the step without XLA, which has no probes"


REWRITTEN = "__autograph_generated_file"
"""Part of the names of files that AutoGraph writes."""


class GraphProbes(Probes):
    """Inserts probes into graphs that are being traced."""

    def begin_function(self, function: Any) -> None:
        """A call of a function begins; XLA cannot compile probes."""
        if not getattr(function, "_jit_compile", None):
            self.begin()

    def place(self, frame: FrameType | None) -> int:
        """Number of the nearest place in the project, also in a function that AutoGraph has rewritten."""
        while frame is not None:
            file = frame.f_code.co_filename
            origin = _origin(frame) if REWRITTEN in file else (file, frame.f_lineno)
            place = -1 if origin is None else self.trace.place_of(*origin)
            if place >= 0:
                return place
            frame = frame.f_back
        return -1

    def split(self, result: Any) -> tuple[list[Any], Any]:
        nest = sys.modules["tensorflow"].nest
        return nest.flatten(result), partial(nest.pack_sequence_as, result)

    def can_insert(self, array: Any) -> bool:
        tensorflow = sys.modules["tensorflow"]
        if not isinstance(array, tensorflow.Tensor) or not hasattr(array, "graph"):
            return False
        dtype = array.dtype
        return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool or dtype.is_complex)

    def insert(self, probe: Probe, array: Any) -> Any:
        if probe.kind == GRADIENT or not (array.dtype.is_floating or array.dtype.is_complex):
            self._hand_out(probe, array)
            return array
        probed = self._with_gradient(probe, array)
        mask = getattr(array, "_keras_mask", None)  # with which Keras marks tensors
        if mask is not None:
            probed._keras_mask = mask
        return probed

    def _with_gradient(self, probe: Probe, array: Any) -> Any:
        tensorflow = sys.modules["tensorflow"]

        def deviate_probe(array: Any) -> tuple[Any, Any]:
            self._hand_out(probe, array)
            return tensorflow.identity(array), hand_out_gradient

        def hand_out_gradient(slope: Any) -> Any:
            self._hand_out(probe.of_gradient, slope)
            return slope

        return tensorflow.custom_gradient(deviate_probe)(array)

    def _hand_out(self, probe: Probe, array: Any) -> None:
        def hand_out(values: Any) -> None:
            self.receive(probe, values)

        sys.modules["tensorflow"].numpy_function(hand_out, [array], [])


def _origin(frame: FrameType) -> tuple[str, int] | None:
    """Line of the script that a line of a rewritten function stands for.

    Source: `converted_call` in tensorflow/python/autograph/impl/api.py, whose variable has the map of the lines.
    """
    name, line = frame.f_code.co_filename, frame.f_lineno
    caller = frame.f_back
    while caller is not None:
        lines = getattr(caller.f_locals.get("converted_f"), "ag_source_map", None) or {}
        for place, origin in lines.items():
            if (place.filename, place.lineno) == (name, line):
                return origin.loc.filename, origin.loc.lineno
        caller = caller.f_back
    return None
