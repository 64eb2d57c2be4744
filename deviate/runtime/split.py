"""Which examples train and which test: what is shuffled outside the training is the same in every run.

Runs that are compared must be tested on the same data, so the `split` stream is held in every built-in variant but the
one of that name. A permutation that the project draws outside its main loop is taken for one that divides the data, one
inside for the order of the examples. Whether a draw is inside is told by the lines of the frames, so that it does not
depend on taps.
"""

from __future__ import annotations

import sys

from .project import Project, beyond
from .seeds import dress
from .streams import Streams

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable


BETWEEN = ("pandas.",)
"""Libraries that draw permutations on behalf of their caller: `DataFrame.sample`."""


class Splitting:
    """Tells what permutations are drawn for, and lets them draw from that stream."""

    def __init__(self, streams: Streams, project: Project) -> None:
        self.streams = streams
        self.project = project

    def stream(self, frame: FrameType) -> str | None:
        """Stream of a permutation that is drawn in this frame; None for one of a library, which is its own affair."""
        streams, project = self.streams, self.project
        if not streams.is_active or not streams.is_home():
            return None
        caller = beyond(BETWEEN, frame)
        if caller is None or project.place(caller.f_code) is None:
            return None
        return "split" if project.main_loops and not project.is_training(caller) else "shuffle"

    def attend(
        self, owner: Any, names: tuple[str, ...], is_permutation: Callable[..., bool] = lambda *args, **kwargs: True
    ) -> None:
        """Let functions of `owner` draw from `split` or `shuffle` where the project calls them.

        Args:
            is_permutation: called with their arguments; where it is false, the call is like any other.
        """
        for name in names:
            original = getattr(owner, name, None)
            if original is None:
                continue

            def draw(*args: Any, _original: Any = original, **kwargs: Any) -> Any:
                chosen = self.stream(sys._getframe(1)) if is_permutation(*args, **kwargs) else None
                if chosen is None:
                    return _original(*args, **kwargs)
                before = self.streams.enter(chosen)
                try:
                    return _original(*args, **kwargs)
                finally:
                    self.streams.leave(before)

            setattr(owner, name, dress(draw, original))
