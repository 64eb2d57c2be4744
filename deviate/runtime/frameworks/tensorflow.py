"""TensorFlow: the global seed, from which eager operations draw theirs, and the scalars of graph summaries."""

from __future__ import annotations

from ..parts import Guest
from .managed import Managed

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

SUMMARIES = "tensorflow.python.summary.writer.writer"
MODULES = ("tensorflow", SUMMARIES)


def attach(module: Any, guest: Guest) -> None:
    if module.__name__ == SUMMARIES:
        _record(module.SummaryToEventTransformer, guest)
        return
    guest.recorder.event("environment", {"tensorflow": module.__version__})
    if guest.seeding.is_active:
        module.random.set_seed(guest.seeding.initial("tensorflow"))
    guest.seeding.override(module.random, "set_seed", "tensorflow.random.set_seed", "tensorflow")
    guest.seeding.override(module.compat.v1, "set_random_seed", "tensorflow.compat.v1.set_random_seed", "tensorflow")


def _record(writer: Any, guest: Guest) -> None:
    """The values of a graph are known to Python when the session has run: they are in the message that is written."""
    managed = Managed(guest)

    def add_event(self: Any, event: Any, step: Any) -> None:
        scalars = (value for value in event.summary.value if value.WhichOneof("value") == "simple_value")
        managed.report({value.tag: value.simple_value for value in scalars})

    managed.attend(writer, "_add_event", before=add_event)
