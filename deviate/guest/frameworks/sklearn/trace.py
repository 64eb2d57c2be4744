"""Traces scikit-learn: each call of `fit` and `partial_fit`, with its arguments and the fitted attributes.

Computations in between are library code within one call, and are not visible.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterator
from ...observers.steps import Records, Steps

FRAMEWORK = "sklearn"
WHOLE = "a call of `fit` or `partial_fit` is one step: what an estimator computes in it stays in the library"
CURVE, LAST = "loss_curve_", "loss_"
"""Where estimators keep what they minimised, step by step, and at last."""
PARTS = {"X": "input", "y": "target", "sample_weight": "weight"}
"""What the arguments of estimators are called in records."""


class SklearnTrace:
    """Traces estimators."""

    def __init__(
        self, context: AdapterContext, arrays_of: Callable[[str, Any, int], Iterator[tuple[str, Any]]]
    ) -> None:
        self.trace = context.trace
        self.steps = Steps(context.trace, context.streams, FRAMEWORK, Records(context.trace, lambda array: array))
        self.arrays_of = arrays_of

    @contextmanager
    def step(self, estimator: Any, args: Any, kwargs: Any, frame: FrameType) -> Iterator[None]:
        """A call that is not part of another one."""
        self.steps.attempt(lambda: self._before(estimator, args, kwargs, frame))
        yield
        self.steps.attempt(lambda: self._after(estimator, frame))

    def _before(self, estimator: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self.trace.ends(FRAMEWORK, 2, WHOLE)
        if not self.steps.wants_steps:
            return
        place = self.trace.place(frame)
        self.steps.shared_states(place)
        self.steps.states(_states(estimator), place)
        if not self.trace.is_dropped:
            self.steps.weights(self._weights(estimator), place)
        parts = [*zip(PARTS, args), *kwargs.items()]
        arrays = ((PARTS.get(name, name) + way, array) for name, part in parts for way, array in _arrays_in(part))
        self.steps.batch(arrays, place)

    def _after(self, estimator: Any, frame: FrameType) -> None:
        place = self.trace.place(frame)
        for name, value in _losses(estimator):
            self.steps.loss(sys.modules["numpy"].asarray(value, "float64"), place, name)
        self.steps.update(self._weights(estimator), place)
        if hasattr(estimator, "predict"):  # transformers have no trained weights
            self.trace.tick()

    def _weights(self, estimator: Any) -> Iterator[tuple[str, Any]]:
        for name, array in self.arrays_of(type(estimator).__name__, estimator, 0):
            if not name.endswith((CURVE, LAST)):
                yield name, array


def _states(estimator: Any) -> Iterator[tuple[str, Any]]:
    """The state of the generator that an estimator holds, as bytes."""
    random_state: Any = getattr(estimator, "random_state", None)
    if hasattr(random_state, "get_state"):
        _, key, *rest = random_state.get_state()
        numpy = sys.modules["numpy"]
        parts = [numpy.frombuffer(key.tobytes(), "uint8"), numpy.asarray(rest, "float64").view("uint8")]
        yield "sklearn.random_state", numpy.concatenate(parts)


def _losses(estimator: Any) -> Iterator[tuple[str, float]]:
    """Values of the loss: for each pass if the estimator stores them, else the final one."""
    curve = getattr(estimator, CURVE, None)
    if isinstance(curve, list):
        for value in curve:
            yield "loss", float(value)
    elif isinstance(getattr(estimator, LAST, None), float):
        yield "loss", float(getattr(estimator, LAST))


def _arrays_in(part: Any) -> Iterator[tuple[str, Any]]:
    """Arrays in a table, a sparse matrix, a list or an array."""
    if hasattr(part, "tobytes") and hasattr(part, "dtype"):
        yield "", part
    elif hasattr(part, "indptr") and hasattr(part, "indices"):
        for name in ("data", "indices", "indptr"):
            yield "." + name, getattr(part, name)
    elif hasattr(part, "to_numpy"):
        yield "", part.to_numpy()
    elif isinstance(part, (list, tuple)):
        yield "", sys.modules["numpy"].asarray(part)
