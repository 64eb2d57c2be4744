"""Which examples train and which test: what is shuffled before the first training step is the same in every run.

Runs that are compared must be tested on the same data, so the `split` stream is held in every built-in variant. A
permutation that the project draws before its main loop has begun is taken for one that divides the data.

Source: determinism notes of the project, streams: permutations before the first step belong to `split`.
"""

from __future__ import annotations

import os
import sys
from threading import get_ident

from .seeds import Seeding, dress

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any


class Splitting:
    """Draws from generators of its own until the training begins."""

    def __init__(self, seeding: Seeding) -> None:
        self.seeding = seeding

    def is_on(self) -> bool:
        """Whether a draw now would divide the data: in the main thread, before the first step of the main loop."""
        seeding = self.seeding
        return (
            seeding.is_active
            and seeding.project.has_main_loop
            and seeding.recorder.main_steps == 0
            and seeding.home == (os.getpid(), get_ident())
        )

    def hold(self, owner: Any, names: tuple[str, ...], generator: Any) -> None:
        """Let functions of a module draw from `generator` while the data are divided.

        What libraries draw through these functions is their own affair: only calls of the project count.
        """
        for name in names:
            original = getattr(owner, name)

            def draw(*args: Any, _name: str = name, _original: Any = original, **kwargs: Any) -> Any:
                if self.is_on() and self.seeding.project.place(sys._getframe(1).f_code) is not None:
                    return getattr(generator, _name)(*args, **kwargs)
                return _original(*args, **kwargs)

            setattr(owner, name, dress(draw, original))
