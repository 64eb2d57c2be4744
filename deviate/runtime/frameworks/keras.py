"""Keras: what `fit` reports, and `evaluate` where it shows it, taken from Keras's own callbacks; its seeding helper."""

from __future__ import annotations

from ..parts import Guest
from .managed import Managed

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

    Logs = dict[str, Any] | None

CALLBACKS = (
    "keras.src.callbacks",  # Keras 3, and 2.13 to 2.15
    "tf_keras.src.callbacks",
    "keras.callbacks",  # up to 2.12
    "tensorflow.python.keras.callbacks",  # TensorFlow up to 2.5
)
MODULES = ("keras", "keras.src.utils.rng_utils", *CALLBACKS)


def attach(module: Any, guest: Guest) -> None:
    if module.__name__ == "keras":
        guest.recorder.event("environment", {"keras": module.__version__})
        guest.seeding.override(module.utils, "set_random_seed", "keras.utils.set_random_seed", "keras")
    elif module.__name__ == "keras.src.utils.rng_utils":
        guest.seeding.override(module, "set_random_seed", "keras.utils.set_random_seed", "keras")
    else:
        _record(module.CallbackList, module.History, guest)


def _record(callbacks: Any, history: Any, guest: Guest) -> None:
    """Epoch e is step e of the managed loop around the call of `fit`, for the user's callbacks too.

    The list of callbacks tells of the steps, for it is called before any of them; the values are those of the History
    callback, which comes after the user's own and so has what they put in.
    """
    managed = Managed(guest)

    def begin(self: Any, logs: Logs = None) -> None:
        managed.begin(self)

    def epoch_begin(self: Any, epoch: int, logs: Logs = None) -> None:
        managed.step(self, epoch)

    def epoch_end(self: Any, epoch: int, logs: Logs = None) -> None:
        managed.report(logs or {})

    def test_end(self: Any, logs: Logs = None) -> None:
        is_shown = getattr(self, "_progbar", None) is not None
        if is_shown and not managed.is_running(self):  # the validation of `fit` is in its history
            managed.report({"evaluate_" + name: value for name, value in (logs or {}).items()})

    def end(self: Any, logs: Logs = None) -> None:
        managed.end(self)

    managed.attend(callbacks, "on_train_begin", before=begin)
    managed.attend(callbacks, "on_epoch_begin", before=epoch_begin)
    managed.attend(history, "on_epoch_end", before=epoch_end)
    managed.attend(callbacks, "on_test_end", before=test_end)
    managed.attend(callbacks, "on_train_end", after=end)
