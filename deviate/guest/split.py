"""Routes draws that decide which examples train and which test, so that they are the same in every run.

Compared runs must be tested on the same data, so the `split` stream is held in every built-in variant except the one of
that name. A permutation that the project draws outside its main loop is assumed to divide the data, one inside to order
the examples. The lines of the frames decide whether a draw is inside, so it does not depend on taps. Other draws before
the main loop do not divide anything, unless the text of the project shows that their values become the examples of a
loader, of `fit` or of an evaluation; then the examples are made of them. Otherwise they are not changed, and are
recorded with their place: a hash of the test data shows whether they matter.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType, ModuleType

from .adapter_context import AdapterContext
from .annotations import Any, Callable, Iterable
from .project import Project, beyond
from .regions import Region
from .seeds import wraps_like
from .streams import OTHER, Streams

SPLIT = "split"

EXAMPLES = frozenset((
    "DataLoader", "TensorDataset", "ArrayDataset", "from_tensor_slices", "from_tensors", "train_test_split",
    "fit", "partial_fit", "train_on_batch", "fit_generator", "evaluate", "score", "predict", "test_on_batch",
))  # fmt: skip
"""Calls whose arguments are examples."""
BETWEEN = ("pandas.",)
"""Libraries that draw permutations on behalf of their caller: `DataFrame.sample`."""


class Splitting:
    """Finds the purpose of permutations, and routes them to the matching stream."""

    def __init__(self, streams: Streams, project: Project) -> None:
        self.streams = streams
        self.project = project

    def stream(self, frame: FrameType) -> str | None:
        """Stream of a permutation that is drawn in this frame; None if a library draws it for itself."""
        streams, project = self.streams, self.project
        if not streams.is_active or not streams.is_routed_thread():
            return None
        caller = beyond(BETWEEN, frame)
        if caller is None or project.place(caller.f_code) is None:
            return None
        return "split" if project.main_loops and not project.is_training(caller) else "shuffle"

    def patch(
        self, owner: Any, names: tuple[str, ...], is_permutation: Callable[..., bool] = lambda *args, **kwargs: True
    ) -> None:
        """Route functions of `owner` to `split` or `shuffle` where the project calls them.

        Args:
            is_permutation: called with their arguments; where it is false, the call is like any other.
        """
        for name in names:
            original = getattr(owner, name, None)
            if original is None:
                continue

            def draw(*args: Any, _original: Any = original, _name: str = name, **kwargs: Any) -> Any:
                chosen = self.stream(sys._getframe(1)) if is_permutation(*args, **kwargs) else None
                if chosen is None:
                    return _original(*args, **kwargs)
                if not self.streams.recorder.has_stepped:
                    call = "%s.%s" % (getattr(owner, "__module__", None) or owner.__name__, _name)
                    self.streams.record_draw(call, chosen, *self.project.nearest(sys._getframe(1)))
                with Region(self.streams, chosen):
                    return _original(*args, **kwargs)

            setattr(owner, name, _wraps_like(draw, original, owner, name))


class EarlyDraws:
    """Draws outside of the main loop: draws that make examples are routed to `split`; all are recorded by place."""

    def __init__(self, context: AdapterContext) -> None:
        self.streams = context.streams
        self.project = context.project
        self.recorder = context.recorder
        self.purposes: dict[tuple[str, int, int, int, int], tuple[tuple[CodeType, ...], str]] = {}
        self.flows: Any = None

    def patch(self, owner: Any, names: Iterable[str], library: str, *, is_passing: Callable[[], bool] = bool) -> None:
        """Patch functions of `owner` that draw random numbers.

        Args:
            library: what the names follow in the record.
            is_passing: where it is true, the call is none of the program's.
        """
        streams, recorder = self.streams, self.recorder
        for name in names:
            original = getattr(owner, name)

            def draw(*args: Any, _original: Any = original, _call: str = library + "." + name, **kwargs: Any) -> Any:
                if (
                    is_passing()
                    or recorder.has_stepped
                    or streams.routed_stream != OTHER
                    or not streams.is_routed_thread()
                ):
                    return _original(*args, **kwargs)
                if self.stream(sys._getframe(1), _call) != SPLIT:
                    return _original(*args, **kwargs)
                before = streams.enter(SPLIT)
                try:
                    return _original(*args, **kwargs)
                finally:
                    streams.leave(before)

            setattr(owner, name, _wraps_like(draw, original, owner, name))

    def stream(self, frame: FrameType, call: str) -> str | None:
        """The stream of a draw in a frame; None if the project did not request it."""
        code, caller = frame.f_code, frame.f_back
        around = (code,) if caller is None else (code, caller.f_code)
        key = (call, id(code), frame.f_lineno, id(around[-1]), 0 if caller is None else caller.f_lineno)
        purpose = self.purposes.get(key)
        if purpose is None:
            stream = self._find(frame, call.rpartition(".")[2])
            purpose = self.purposes[key] = (around, stream)  # the codes keep their ids from being reused
            if stream:
                self.streams.record_draw(call, stream, *self.project.nearest(frame))
        return purpose[1] or None

    def _find(self, frame: FrameType, name: str) -> str:
        if self.project.place(frame.f_code) is None:
            return ""
        if self.flows is None:
            from .flows import Flows  # not at the start of every process, since it imports `ast`

            self.flows = Flows(self.project)
        with self.recorder.guarded("purpose of a draw"):
            return SPLIT if self.flows.reach(frame, EXAMPLES, frozenset((name,)), as_data=True) else OTHER
        return OTHER


def _wraps_like(draw: Any, original: Any, owner: Any, name: str) -> Any:
    """Make the wrapper look like the original; module functions are pickled by their qualified name."""
    wraps_like(draw, original)
    if isinstance(owner, ModuleType):
        draw.__module__, draw.__qualname__ = owner.__name__, name
    return draw
