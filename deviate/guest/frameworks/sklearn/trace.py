"""Traces scikit-learn: calls of `fit` and `partial_fit`, with their arguments and the fitted attributes.

A call is one step, unless the estimator trains in iterations that `iterations.py` watches. A search or
cross-validation has the steps of the estimators that it fits in this process.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterable, Iterator
from ...observers.steps import ObservedSteps, StepRecords
from ..tables import arrays_in

FRAMEWORK = "sklearn"
WHOLE = "what an estimator computes within a step stays in the library; its steps are calls of `fit`, or iterations"
CURVE, LAST = "loss_curve_", "loss_"
"""Where estimators keep what they minimised, step by step, and at last."""
TREES = ".estimators_."
"""Part of the names of what iterations add to an ensemble."""
SEARCHES = "sklearn.model_selection"
PARTS = {"X": "input", "y": "target", "sample_weight": "weight"}
"""What the arguments of estimators are called in records."""


class SklearnTrace:
    """Traces estimators.

    Attributes:
        is_fitting: whether a call is in progress that is not part of another one.
        n_iterations: of this call so far.
    """

    def __init__(
        self, context: AdapterContext, arrays_of: Callable[[str, Any, int], Iterator[tuple[str, Any]]]
    ) -> None:
        self.trace = context.trace
        self.streams = context.streams
        self.steps = ObservedSteps(
            context.trace, context.streams, FRAMEWORK, StepRecords(context.trace, lambda array: array)
        )
        self.arrays_of = arrays_of
        self.is_fitting = False
        self.n_iterations = 0
        self.is_complete = False
        self.late_losses: Callable[[], Iterable[float]] = list
        self.place = -1

    @contextmanager
    def step(self, estimator: Any, args: Any, kwargs: Any, frame: FrameType) -> Iterator[None]:
        """A call; one that is part of another one is no step, except in a search."""
        is_part = self.is_fitting or not self.streams.is_routed_thread()
        if is_part or type(estimator).__module__.startswith(SEARCHES):
            yield
            return
        self.is_fitting, self.is_complete, self.n_iterations = True, False, 0
        try:
            self.steps.attempt(lambda: self._before(estimator, args, kwargs, frame))
            yield
            self.steps.attempt(lambda: self._after(estimator))
        finally:
            self.is_fitting = False

    def _before(self, estimator: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self.trace.ends(FRAMEWORK, 2, WHOLE)
        self.place = self.trace.place(frame)
        if not self.steps.wants_steps:
            return
        self._record_states(getattr(estimator, "random_state", None))
        self.steps.weights(self._weights(estimator), self.place)
        parts = [*zip(PARTS, args), *kwargs.items()]
        arrays = ((PARTS.get(name, name) + end, array) for name, part in parts for end, array in arrays_in(part))
        self.steps.batch(arrays, self.place)

    def _after(self, estimator: Any) -> None:
        self._record_late_losses()
        if not self.n_iterations:
            for value in _losses(estimator):
                self._record_loss(value)
        self.steps.update(self._weights(estimator), self.place)
        if hasattr(estimator, "predict"):  # transformers have no trained weights
            self.trace.tick()

    def _weights(self, estimator: Any) -> Iterator[tuple[str, Any]]:
        for name, array in self.arrays_of(type(estimator).__name__, estimator, 0):
            if not name.endswith((CURVE, LAST)) and not (self.n_iterations and TREES in name):
                yield name, array

    # ------------------------------------------------------------ iterations

    def is_iterating(self) -> bool:
        """Whether an iteration in this thread is one of the traced call."""
        return self.is_fitting and bool(self.trace.level) and self.streams.is_routed_thread()

    def iteration(self, random_state: Any = None) -> None:
        """An iteration begins, which ends the one before; the first one belongs to the step that `fit` began."""
        if self.is_complete:
            self.is_complete = False
            self._record_late_losses()
            self.trace.tick()
            if self.steps.wants_steps:
                self._record_states(random_state)
        self.n_iterations += 1

    def batch(self, parts: Iterable[tuple[str, Any]]) -> None:
        named = ((name + end, array) for name, part in parts for end, array in arrays_in(part))
        self.steps.batch(named, self.place)

    def loss(self, value: float) -> None:
        self._record_loss(value)

    def gradients(self, arrays: Iterable[tuple[str, Any]]) -> None:
        self.steps.gradients(arrays, self.place)

    def update(self, arrays: Iterable[tuple[str, Any]], losses: Callable[[], Iterable[float]] = list) -> None:
        """An update of this iteration is complete.

        Args:
            losses: gives what the estimator will have computed when the iteration ends.
        """
        self.steps.update(arrays, self.place)
        self.late_losses, self.is_complete = losses, True

    def _record_states(self, random_state: Any) -> None:
        self.steps.shared_states(self.place)
        self.steps.states(_states(random_state), self.place)

    def _record_late_losses(self) -> None:
        losses, self.late_losses = self.late_losses, list
        for value in losses():
            self._record_loss(value)

    def _record_loss(self, value: float) -> None:
        self.steps.loss(sys.modules["numpy"].asarray(value, "float64"), self.place)


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
