"""Functions of Python in graphs of TensorFlow: `py_function`, `numpy_function`, and generators of datasets.

TensorFlow calls them in threads of its own. What they draw from NumPy and `random` is of the stream `augment`.
"""

from __future__ import annotations

from sys import _getframe

from ...adapter_context import Guest
from ...callback_threads import visits_of
from ...seeds import dress
from .purpose import Purpose

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any, Callable

LOOKS = 3
"""How often a function that several threads call is looked at for draws."""


def attend(registry: Any, guest: Guest, purpose: Purpose, is_deterministic: Callable[[], bool]) -> None:
    """Stand in for the class of the registry through which all of them are made and called."""
    insert, original, streams = registry.insert, registry.__call__, guest.streams
    places: dict[Any, tuple[str, int]] = {}
    looks: dict[Any, int] = {}

    def register(self: Any, func: Any) -> Any:
        token = insert(self, func)
        visits_of(streams)
        if streams.is_home() and purpose.is_parallel(_getframe(1)) and not is_deterministic():
            places[token], looks[token] = guest.project.nearest(_getframe(1)), LOOKS
        return token

    def __call__(self: Any, token: Any, *args: Any) -> Any:  # noqa: N807
        visits = visits_of(streams)
        before = visits.begin("augment")
        marks = _marks(guest) if looks.get(token) else None
        try:
            return original(self, token, *args)
        finally:
            if marks is not None and before is not None:
                _look(token, marks)
            visits.end(before)

    def _look(token: Any, marks: list[Any]) -> None:
        looks[token] -= 1
        if _marks(guest) != marks:
            looks[token] = 0
            guest.recorder.event("uncontrolled", "draws of Python in parallel threads of tf.data", *places[token])

    registry.insert = dress(register, insert)
    registry.__call__ = dress(__call__, original)


def _marks(guest: Guest) -> list[Any]:
    return [bank.mark(bank.take()) for bank in guest.streams.banks]
