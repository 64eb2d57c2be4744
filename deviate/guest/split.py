"""Routes draws of which examples are made, divided or put in order before the training: they are equal in every run.

"N runs" means the same data, trained N times. So what the project draws outside of its training belongs to `split`,
which is held in every built-in variant but the one of that name. Inside the training a permutation orders the examples,
and other draws are not changed. The lines of the frames decide whether a draw is inside, so it does not depend on taps.

Exceptions are first values of weights, which the text of the project shows (`trained_names.py`), and what is only
printed. Draws of which the text tells nothing are held, and recorded as such with their place.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType, ModuleType

from .adapter_context import AdapterContext
from .annotations import Any, Callable, Iterable
from .project import beyond
from .regions import Region
from .seeds import wraps_like
from .streams import OTHER

SPLIT, SHUFFLE = "split", "shuffle"

BETWEEN = ("pandas.", "scipy.", "torch.distributions.")
"""Libraries that draw on behalf of their caller: `DataFrame.sample`, `scipy.stats.norm.rvs`."""
VARY = "vary"
"""The control that names lines whose draws vary in any case, as `train.py:7,data.py:3`."""


class EarlyDraws:
    """Finds the purpose of draws by the project, and routes them to the matching stream."""

    def __init__(self, context: AdapterContext) -> None:
        self.streams = context.streams
        self.project = context.project
        self.recorder = context.recorder
        self.purposes: dict[tuple[str, int, int, int, int], tuple[tuple[CodeType, ...], str]] = {}
        self.varied_places = frozenset(filter(None, context.controls.get(VARY, "").split(",")))
        self.has_training = bool(context.project.main_loops)
        self.loops: dict[str, list[tuple[int, int]]] = {}
        self._flows: Any = None

    def patch(
        self,
        owner: Any,
        names: Iterable[str],
        library: str,
        *,
        is_permutation: Callable[..., bool] | None = None,
        is_passing: Callable[[], bool] = bool,
    ) -> None:
        """Patch functions of `owner` that draw random numbers.

        Args:
            library: what the names follow in the record.
            is_permutation: called with their arguments: whether the call orders or selects examples.
            is_passing: where it is true, the call is none of the program's.
        """
        streams = self.streams
        for name in names:
            original = getattr(owner, name, None)
            if original is None:
                continue

            def draw(*args: Any, _original: Any = original, _call: str = library + "." + name, **kwargs: Any) -> Any:
                if streams.now != OTHER or not streams.seeds or not streams.is_routed_thread() or is_passing():
                    return _original(*args, **kwargs)
                is_order = is_permutation is not None and is_permutation(*args, **kwargs)
                stream = (self.order if is_order else self.stream)(sys._getframe(1), _call)
                if stream is None or stream == OTHER:
                    return _original(*args, **kwargs)
                before = streams.enter(stream)
                try:
                    return _original(*args, **kwargs)
                finally:
                    streams.leave(before)

            wraps_like(draw, original)
            if isinstance(owner, ModuleType):  # functions of modules are pickled by their qualified name
                draw.__module__, draw.__qualname__ = owner.__name__, name
            setattr(owner, name, draw)

    def patch_division(self, owner: Any, name: str, library: str) -> None:
        """Patch a function of a library that divides examples."""
        original, call = getattr(owner, name), "%s.%s" % (library, name)

        def divide(*args: Any, **kwargs: Any) -> Any:
            with Region(self.streams, self.division(sys._getframe(1), call)):
                return original(*args, **kwargs)

        setattr(owner, name, wraps_like(divide, original))

    def division(self, frame: FrameType, call: str) -> str:
        """Stream of what a library divides, or makes, for the project in this frame."""
        file, line = self.project.nearest(frame)
        stream = SHUFFLE if self._is_varied(file, line) else SPLIT
        if file and self.streams.is_active:
            self.streams.record_draw(call, stream, file, line)
        return stream

    def _is_varied(self, file: str, line: int) -> bool:
        return "%s:%d" % (file, line) in self.varied_places

    def order(self, frame: FrameType, call: str) -> str | None:
        """Stream of a permutation that is drawn in this frame; None if a library draws it for itself."""
        caller = beyond(BETWEEN, frame)
        if caller is None or self.project.place(caller.f_code) is None:
            return None
        if self.is_training(caller) or not self._has_training(caller) or self._is_called_back(caller):
            return SHUFFLE
        return self._purpose(caller, call, SHUFFLE)

    def stream(self, frame: FrameType, call: str) -> str | None:
        """Stream of another draw in a frame; None if the project did not request it, or in its training."""
        if self.is_training(frame):
            return None
        caller = beyond(BETWEEN, frame)
        if caller is None or self.project.place(caller.f_code) is None:
            return None
        return self._purpose(caller, call, OTHER) if self._has_training(caller) else OTHER

    def is_training(self, frame: FrameType) -> bool:
        """Whether a frame or one of its callers is in the main loop, or in a loop that trains where none is known."""
        if self.project.main_loops:
            return self.project.is_training(frame)
        for outer in self.project.frames(frame):
            file = outer.f_code.co_filename
            if file not in self.loops:
                with self.recorder.guarded("loops that train"):
                    self.loops[file] = []
                    self.loops[file] = self.flows.training_loops(outer)
            if any(first <= outer.f_lineno <= last for first, last in self.loops[file]):
                return True
        return False

    def _has_training(self, frame: FrameType) -> bool:
        """Whether the project trains anything: draws of a simulation are neither before nor after a training."""
        if not self.has_training:
            with self.recorder.guarded("search for a training"):
                self.has_training = self.flows.has_training(frame)
        return self.has_training

    def _is_called_back(self, frame: FrameType) -> bool:
        """Whether a library runs this code of the project, which handed it over, without a main loop around it."""
        if self.project.main_loops:
            return False
        outer, is_beyond = frame.f_back, False
        while outer is not None:
            if self.project.place(outer.f_code) is None:
                is_beyond = is_beyond or not outer.f_code.co_filename.startswith("<frozen importlib")
            elif is_beyond:
                return True
            outer = outer.f_back
        return False

    def _purpose(self, frame: FrameType, call: str, varying: str) -> str:
        """The stream of a draw before the training, found once for each line and caller.

        Args:
            varying: the stream of draws that are no examples.
        """
        code, caller = frame.f_code, frame.f_back
        around = (code,) if caller is None else (code, caller.f_code)
        key = (call, id(code), frame.f_lineno, id(around[-1]), 0 if caller is None else caller.f_lineno)
        purpose = self.purposes.get(key)
        if purpose is None:
            stream, file, line = OTHER, *self.project.nearest(frame)
            with self.recorder.guarded("purpose of a draw"):
                if self._is_varied(file, line):
                    stream = varying
                elif not self.flows.is_no_data(frame, is_shown_data=varying == SHUFFLE):
                    stream = SPLIT
            purpose = self.purposes[key] = (around, stream)  # the codes keep their ids from being reused
            self.streams.record_draw(call, stream, file, line)
        return purpose[1]

    @property
    def flows(self) -> Any:
        if self._flows is None:
            from .flows import Flows  # not at the start of every process, since it imports `ast`

            self._flows = Flows(self.project)
        return self._flows


def always(*args: Any, **kwargs: Any) -> bool:
    return True
