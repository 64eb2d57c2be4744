"""Traces LightGBM, XGBoost and CatBoost: an iteration is a step, with its trees and what the library evaluates in it.

An iteration ends where the next one begins, because libraries evaluate a model after they have updated it. Only the
trees of one iteration are read at its end, so that the cost of a step does not grow with the model.
"""

from __future__ import annotations

from types import FrameType
from zlib import crc32

from ..annotations import Any, Callable, Mapping
from ..observations import Observations
from .tables import arrays_in

WHOLE = "an iteration is one step: how a tree is grown stays in the library, which is not written in Python"


class BoostingTrace:
    """Traces the models of one library, in a process that is traced."""

    def __init__(self, observed: Observations) -> None:
        self.trace = observed.context.trace
        self.streams = observed.context.streams
        self.steps = observed.steps
        self.has_states = False
        self.is_complete = False
        self.trace.at_boundary.append(self.end_iteration)

    @property
    def is_active(self) -> bool:
        """Whether this thread is traced; several would write in an order of their own."""
        return bool(self.trace.level) and self.streams.is_routed_thread()

    def data(self, parts: Mapping[str, Any], frame: FrameType) -> None:
        """What a model is about to learn from, by name: `input`, `target`, `weight`."""
        if self.is_active:
            place = self._begin(frame)
            arrays = ((name + end, array) for name, part in parts.items() for end, array in arrays_in(part))
            self.steps.batch(arrays, place)

    def iteration(self, frame: FrameType) -> None:
        """An iteration begins."""
        if self.is_active:
            self._begin(frame)
            self.trace.ends(self.steps.framework, 2, WHOLE)

    def _begin(self, frame: FrameType) -> int:
        """End the iteration before, and record the states of the generators, once in a step."""
        self.end_iteration()
        place = self.trace.place(frame)
        if not self.has_states:
            self.has_states = True
            self.steps.shared_states(place)
        return place

    def update(self, trees: Callable[[], bytes], frame: FrameType) -> None:
        """An iteration has added these trees, which are read if they are wanted."""
        if self.is_active:
            if self.steps.wants_steps:
                content = trees()
                self.trace.record(
                    "update", "trees", crc32(content), "bytes[%d]" % len(content), self.trace.place(frame)
                )
            self.is_complete = True

    def losses(self, values: Mapping[str, float], frame: FrameType) -> None:
        """What was evaluated after the update of this iteration, by name: the script may give the metrics as a set."""
        if self.is_active:
            place = self.trace.place(frame)
            for name, value in sorted(values.items()):
                self.steps.loss(float(value), place, name)

    def end_iteration(self) -> None:
        """All is known of an iteration whose update is complete."""
        if self.is_complete:
            self.is_complete = self.has_states = False
            self.trace.tick()


def data_parts(data: Any, target: Any = None) -> dict[str, Any]:
    """Examples, labels and weights in an argument; of a `DMatrix` or `Pool`, what it gives back."""
    if not hasattr(data, "get_label"):
        return {"input": data, "target": target}
    parts = {"input": features_of(data), "target": data.get_label(), "weight": data.get_weight()}
    return {name: part for name, part in parts.items() if getattr(part, "shape", (0,))[0]}


def features_of(data: Any) -> Any:
    """The features of a `DMatrix`, or of a `Pool`; None of a pool with categories, which does not give them back."""
    if hasattr(data, "get_cat_feature_indices"):
        return None if data.get_cat_feature_indices() else data.get_features()
    return data.get_data()
