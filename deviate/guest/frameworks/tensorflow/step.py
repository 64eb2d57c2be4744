"""State of the current training step, shared by the traces of TensorFlow and Keras."""

from __future__ import annotations

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable


class Step:
    """The current training step.

    Attributes:
        fitting: how many calls of `fit` are in a step of theirs.
        has_loss: whether the loss of the step is recorded.
        at_change: called when an optimizer of Keras is about to change weights.
        at_states: called with a place when Keras has recorded the states of its own generators.
    """

    def __init__(self, context: AdapterContext) -> None:
        self.fitting = 0
        self.has_loss = False
        self.at_change: Callable[[], object] = lambda: None
        self.at_states: Callable[[int], object] = lambda place: None


def is_eager_tensor(value: Any) -> bool:
    """Whether the value is an eager TensorFlow tensor, dense or sparse."""
    numbers = getattr(value, "values", value) if hasattr(value, "indices") else value
    return hasattr(numbers, "numpy") and not hasattr(value, "graph")
