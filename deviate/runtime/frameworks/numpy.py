"""NumPy: the global generator, and the generators that scripts make with `default_rng`.

`RandomState(seed)` stays as the script made it: scikit-learn tells estimators by `isinstance` of that class, and an
integer `random_state` is how scripts fix which examples train and which test.
"""

from __future__ import annotations

from ..parts import Guest

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

MODULES = ("numpy",)


def attach(module: Any, guest: Guest) -> None:
    random = module.random
    guest.recorder.event("environment", {"numpy": module.__version__})
    if guest.seeding.is_active:
        random.seed(guest.seeding.initial("numpy"))
    guest.seeding.override(random, "seed", "numpy.random.seed", "numpy")
    guest.seeding.override(random, "default_rng", "numpy.random.default_rng", "numpy.default_rng", is_global=False)
