"""Keras: what `fit` reports, taken from the History callback that every `fit` has, and its seeding helper.

Nothing is added to the user's list of callbacks: Keras looks at that list to choose how it runs.
"""

from __future__ import annotations

from sys import _getframe

from ..parts import Guest
from ..recorder import Running
from ..seeds import dress

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any, Callable

    Logs = dict[str, Any] | None

MODULES = (
    "keras",
    "keras.src.callbacks.history",
    "keras.src.utils.rng_utils",
    "tf_keras.src.callbacks",
)


def attach(module: Any, guest: Guest) -> None:
    if module.__name__ == "keras":
        guest.recorder.event("environment", {"keras": module.__version__})
        guest.seeding.override(module.utils, "set_random_seed", "keras.utils.set_random_seed", "keras")
    elif module.__name__ == "keras.src.utils.rng_utils":
        guest.seeding.override(module, "set_random_seed", "keras.utils.set_random_seed", "keras")
    else:
        _record_history(module.History, guest)


def _record_history(history: Any, guest: Guest) -> None:
    """Wrap the methods of the class: epoch e is step e of the managed loop around the call of `fit`."""
    recorder = guest.recorder
    running: dict[int, Running] = {}

    def before(name: str, act: Callable[..., None]) -> None:
        original = getattr(history, name)

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                act(self, *args, **kwargs)
            except Exception as error:
                recorder.fault("History.%s" % name, error)
            return original(self, *args, **kwargs)

        setattr(history, name, dress(method, original))

    def begin(self: Any, logs: Logs = None) -> None:
        number, frame = guest.project.managed_loop(_getframe(2))
        # With its frame the loop is taken off the running ones when `fit` ends in an exception.
        loop = Running(number) if frame is None else Running(number, id(frame), frame.f_code)
        running[id(self)] = loop
        recorder.begin(loop)

    def epoch_begin(self: Any, epoch: int, logs: Logs = None) -> None:
        loop = running[id(self)]
        loop.step = epoch
        recorder.main_step(loop.id, epoch)

    def epoch_end(self: Any, epoch: int, logs: Logs = None) -> None:
        for name, value in (logs or {}).items():
            recorder.named(name, value, _getframe(2))

    def end(self: Any, logs: Logs = None) -> None:
        recorder.end(running.pop(id(self)))

    before("on_train_begin", begin)
    before("on_epoch_begin", epoch_begin)
    before("on_epoch_end", epoch_end)
    before("on_train_end", end)
