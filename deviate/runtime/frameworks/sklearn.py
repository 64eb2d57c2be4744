"""scikit-learn: it draws from NumPy's generators; which examples train and which test is held."""

from __future__ import annotations

from ..parts import Guest
from ..seeds import Seeding

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("sklearn", "sklearn.model_selection._split")


def attach(module: Any, guest: Guest) -> None:
    if module.__name__ == "sklearn":
        guest.recorder.event("environment", {"scikit-learn": module.__version__})
    elif guest.seeding.is_active:
        _hold_split(module, guest.seeding)


def _hold_split(module: Any, seeding: Seeding) -> None:
    """Splitters without a `random_state` would draw from the global generator, whose seed varies."""
    original = module.check_random_state

    def check_random_state(seed: Any) -> Any:
        if seed is None:
            seed = seeding.next_held("sklearn")
        return original(seed)

    module.check_random_state = check_random_state
