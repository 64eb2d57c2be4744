"""Python functions in TensorFlow graphs: `py_function`, `numpy_function`, and generators of datasets.

TensorFlow calls them in its own threads. Their draws from NumPy and `random` belong to the stream `augment`.
"""

from __future__ import annotations

from sys import _getframe

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...callback_threads import callback_threads_of
from ...seeds import wraps_like
from .purpose import Purpose

LOOKS = 3
"""How often a function that several threads call is looked at for draws."""


def patch_callbacks(registry: Any, context: AdapterContext, purpose: Purpose, is_deterministic: Callable[[], bool]) -> None:
    """Replace the registry class through which all of them are created and called."""
    original, streams = registry.__call__, context.streams
    places: dict[Any, tuple[str, int]] = {}
    looks: dict[Any, int] = {}

    def register(token: Any, registry: Any, func: Any) -> None:
        callback_threads_of(streams)
        if streams.is_routed_thread() and purpose.is_parallel(_getframe()) and not is_deterministic():
            places[token], looks[token] = context.project.nearest(_getframe()), LOOKS

    def __call__(self: Any, token: Any, *args: Any) -> Any:  # noqa: N807
        callback_threads = callback_threads_of(streams)
        before = callback_threads.begin("augment")
        marks = _marks(context) if looks.get(token) else None
        try:
            return original(self, token, *args)
        finally:
            if marks is not None and before is not None:
                _look(token, marks)
            callback_threads.end(before)

    def _look(token: Any, marks: list[Any]) -> None:
        looks[token] -= 1
        if _marks(context) != marks:
            looks[token] = 0
            context.recorder.event("uncontrolled", "draws of Python in parallel threads of tf.data", *places[token])

    context.observe(registry, "insert", after=register)
    registry.__call__ = wraps_like(__call__, original)


def _marks(context: AdapterContext) -> list[Any]:
    return [bank.fingerprint(bank.get_state()) for bank in context.streams.banks]
