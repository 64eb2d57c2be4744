"""NumPy: the global generator, and the generators that scripts make with `default_rng`.

`RandomState(seed)` stays as the script made it: scikit-learn tells estimators by `isinstance` of that class, and an
integer `random_state` is how scripts fix which examples train and which test.
"""

from __future__ import annotations

from sys import _getframe

from ..parts import Guest
from ..split import Splitting

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable

MODULES = ("numpy",)


def attach(module: Any, guest: Guest) -> None:
    random, seeding = module.random, guest.seeding
    guest.recorder.event("environment", {"numpy": module.__version__})
    splitting = Splitting(seeding)
    if seeding.is_active:
        random.seed(seeding.initial("numpy"))
        splitting.hold(random, ("permutation", "shuffle"), random.RandomState(seeding.held("numpy")))
    seeding.override(random, "seed", "numpy.random.seed", "numpy")
    seeding.override(
        random,
        "default_rng",
        "numpy.random.default_rng",
        "numpy.default_rng",
        is_global=False,
        then=_with_twin(random, splitting),
    )


def _with_twin(random: Any, splitting: Splitting) -> Callable[[Any], Any]:
    """Generators that the project makes divide the data by a twin of theirs, and do all else themselves."""

    class Generator(random.Generator):  # type: ignore[misc]
        def permutation(self, *args: Any, **kwargs: Any) -> Any:
            return self._drawing(_getframe(1)).permutation(*args, **kwargs)

        def permuted(self, *args: Any, **kwargs: Any) -> Any:
            return self._drawing(_getframe(1)).permuted(*args, **kwargs)

        def shuffle(self, *args: Any, **kwargs: Any) -> Any:
            return self._drawing(_getframe(1)).shuffle(*args, **kwargs)

        def _drawing(self, frame: FrameType) -> Any:
            return self._twin if splitting.is_on(frame) else super()

    def with_twin(generator: Any) -> Any:
        if type(generator) is not random.Generator:
            return generator
        held = Generator(generator.bit_generator)
        seed = splitting.seeding.next_held("numpy.default_rng")
        held._twin = random.Generator(random.PCG64(seed))
        return held

    return with_twin
