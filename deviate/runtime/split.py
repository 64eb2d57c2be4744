"""Which examples train and which test: what is shuffled outside the training is the same in every run.

Runs that are compared must be tested on the same data, so the `split` stream is held in every built-in variant. A
permutation that the project draws outside its main loop is taken for one that divides the data. Whether a draw is
inside is told by the lines of the frames, so that it does not depend on taps.
"""

from __future__ import annotations

import os
import sys
from threading import get_ident

from .seeds import Seeding, dress

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


class Splitting:
    """Draws from generators of its own outside the main loop."""

    def __init__(self, seeding: Seeding) -> None:
        self.seeding = seeding

    def is_on(self, frame: FrameType) -> bool:
        """Whether a draw in this frame divides the data: drawn by the project, in the main thread, outside the loop."""
        seeding, project = self.seeding, self.seeding.project
        return (
            seeding.is_active
            and bool(project.main_loops)
            and seeding.home == (os.getpid(), get_ident())
            and project.place(frame.f_code) is not None
            and not project.is_training(frame)
        )

    def hold(self, owner: Any, names: tuple[str, ...], generator: Any) -> None:
        """Let functions of a module draw from `generator` where the data are divided.

        What libraries draw through these functions is their own affair: only calls of the project count.
        """
        for name in names:
            original = getattr(owner, name)

            def draw(*args: Any, _name: str = name, _original: Any = original, **kwargs: Any) -> Any:
                if self.is_on(sys._getframe(1)):
                    return getattr(generator, _name)(*args, **kwargs)
                return _original(*args, **kwargs)

            setattr(owner, name, dress(draw, original))
