"""Traces scikit-learn: calls of `fit` and `partial_fit`, with their arguments and the fitted attributes.

A call is one step. A search or cross-validation has the steps of the estimators that it fits in this process.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import FrameType

from ...annotations import Any, Callable, Iterator
from ...observations import Observations
from ..tables import arrays_in

WHOLE = "a step is a call of `fit` or `partial_fit`: what an estimator computes within it stays in the library"
CURVE, LAST = "loss_curve_", "loss_"
"""Where estimators keep what they minimised, step by step, and at last."""
SEARCHES = "sklearn.model_selection"
PARTS = {"X": "input", "y": "target", "sample_weight": "weight"}
"""What the arguments of estimators are called in records."""


class SklearnTrace:
    """Traces estimators.

    Attributes:
        is_fitting: whether a call is in progress that is not part of another one.
    """

    def __init__(self, observed: Observations, arrays_of: Callable[[str, Any, int], Iterator[tuple[str, Any]]]) -> None:
        self.trace = observed.context.trace
        self.streams = observed.context.streams
        self.steps = observed.steps
        self.arrays_of = arrays_of
        self.is_fitting = False

    @contextmanager
    def step(self, estimator: Any, args: Any, kwargs: Any, frame: FrameType) -> Iterator[None]:
        """A call; one that is part of another one is no step, except in a search."""
        is_part = self.is_fitting or not self.streams.is_routed_thread()
        if is_part or type(estimator).__module__.startswith(SEARCHES):
            yield
            return
        self.is_fitting = True
        try:
            self.steps.attempt(lambda: self._before(estimator, args, kwargs, self.trace.place(frame)))
            yield
            self.steps.attempt(lambda: self._after(estimator, self.trace.place(frame)))
        finally:
            self.is_fitting = False

    def _before(self, estimator: Any, args: Any, kwargs: Any, place: int) -> None:
        self.trace.ends(self.steps.framework, 2, WHOLE)
        self.steps.shared_states(place)
        self.steps.states(_states(getattr(estimator, "random_state", None)), place)
        self.steps.weights(self._weights(estimator), place)
        parts = [*zip(PARTS, args), *kwargs.items()]
        arrays = ((PARTS.get(name, name) + end, array) for name, part in parts for end, array in arrays_in(part))
        self.steps.batch(arrays, place)

    def _after(self, estimator: Any, place: int) -> None:
        for value in _losses(estimator):
            self.steps.loss(value, place)
        self.steps.update(self._weights(estimator), place)
        if hasattr(estimator, "predict"):  # transformers have no trained weights
            self.trace.tick()

    def _weights(self, estimator: Any) -> Iterator[tuple[str, Any]]:
        for name, array in self.arrays_of(type(estimator).__name__, estimator, 0):
            if not name.endswith((CURVE, LAST)):
                yield name, array


def _states(random_state: Any) -> Iterator[tuple[str, Any]]:
    """The state of the generator that an estimator holds, as bytes."""
    if hasattr(random_state, "get_state"):
        _, key, *rest = random_state.get_state()
        numpy = sys.modules["numpy"]
        parts = [numpy.frombuffer(key.tobytes(), "uint8"), numpy.asarray(rest, "float64").view("uint8")]
        yield "sklearn.random_state", numpy.concatenate(parts)


def _losses(estimator: Any) -> Iterator[float]:
    """Values of the loss: for each pass if the estimator stores them, else the final one."""
    curve = getattr(estimator, CURVE, None)
    if isinstance(curve, list):
        yield from map(float, curve)
    elif isinstance(getattr(estimator, LAST, None), float):
        yield float(getattr(estimator, LAST))
