"""Routes draws of which examples are made, divided or put in order before the training: they are equal in every run.

"N runs" means the same data, trained N times. So what the project draws outside of its training belongs to `split`,
which is held in every built-in variant but the one of that name. Inside the training a permutation orders the examples,
and other draws are not changed. The lines of the frames decide whether a draw is inside, so it does not depend on taps.

Exceptions are first values of weights, which the first run of an experiment finds (`first_values.py`): further runs get
the places of their draws in the spec.
"""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType, ModuleType

from .adapter_context import AdapterContext
from .annotations import TYPE_CHECKING, Any, Callable, Iterable, Mapping
from .first_values import FirstValues
from .pool_workers import is_pool_worker, task_call
from .project import beyond, outwards
from .regions import INIT, Region
from .seeds import wraps_like
from .streams import OTHER

if TYPE_CHECKING:
    Purpose = tuple[list[CodeType], str, str]
    """Codes of the frames, which keep their ids from being reused; the stream; the place, as told."""

SPLIT, SHUFFLE = "split", "shuffle"

BETWEEN = ("pandas.", "scipy.", "torch.distributions.")
"""Libraries that draw on behalf of their caller: `DataFrame.sample`, `scipy.stats.norm.rvs`."""
VARY = "vary"
"""The control that names lines whose draws vary in any case, as `train.py:7,data.py:3`."""
MOST_FRAMES = 10
MOST_PURPOSES = 10_000


class EarlyDraws:
    """Finds the purpose of draws by the project, and routes them to the matching stream."""

    def __init__(self, context: AdapterContext) -> None:
        self.streams = context.streams
        self.project = context.project
        self.recorder = context.recorder
        self.purposes: dict[tuple[int, ...], Purpose] = {}
        self.varied_places = frozenset(filter(None, context.controls.get(VARY, "").split(",")))
        self.looked_at: set[tuple[CodeType, int, int]] = set()
        self.has_training = bool(context.project.training_loops)
        self._flows: Any = None
        is_varied = INIT in self.streams.varied  # else they are what the first run drew
        self.weights = frozenset(context.weights or () if is_varied else ())
        is_first = is_varied and context.weights is None
        self.first_values = FirstValues(self.recorder, self.project, self._bound_names) if is_first else None

    def patch(
        self,
        owner: Any,
        names: Iterable[str],
        library: str,
        *,
        orders: Mapping[str, Callable[..., bool]],
        is_passing: Callable[[], bool] = bool,
    ) -> None:
        """Patch functions of `owner` that draw random numbers.

        Args:
            library: what the names follow in the record.
            orders: further functions, and whether a call with these arguments orders or selects examples.
            is_passing: where it is true, the call is none of the program's.
        """
        streams, recorder = self.streams, self.recorder
        for name in dict.fromkeys((*names, *orders)):
            original, ordering = getattr(owner, name, None), orders.get(name)
            if original is None:
                continue

            def draw(
                *args: Any,
                _original: Any = original,
                _call: str = library + "." + name,
                _ordering: Any = ordering,
                **kwargs: Any,
            ) -> Any:
                is_order = _ordering is not None and _ordering(*args, **kwargs)
                if (
                    (recorder.is_training and not is_order)
                    or streams.now != OTHER
                    or not streams.seeds
                    or not streams.is_routed_thread()
                    or is_passing()
                ):
                    if streams.seeds and not (recorder.is_training or streams.paused or streams.is_routed_thread()):
                        self._tell_shared(sys._getframe(1), "threads", None)
                    return _original(*args, **kwargs)
                stream = self.stream(sys._getframe(1), _call, is_order=is_order)
                if stream == SPLIT and kwargs.get("generator") is None:  # PyTorch has functions with a generator
                    twins = getattr(args[0] if args else None, "_twins", None)
                    twins = getattr(twins, "bits", twins)
                    library_seed = streams.seeded_in.get(library.partition(".")[0])
                    seeded_in = library_seed if twins is None else twins.seeded_in
                    self._tell_shared(sys._getframe(1), "worker processes", seeded_in)
                if stream is None or stream == OTHER:
                    return _original(*args, **kwargs)
                if stream == INIT:  # in the first run this was drawn as an example: those after it stay the same
                    with Region(streams, SPLIT):
                        _original(*args, **kwargs)
                before = streams.enter(stream)
                try:
                    return _original(*args, **kwargs)
                finally:
                    streams.leave(before)

            wraps_like(draw, original)
            if isinstance(owner, ModuleType):  # functions of modules are pickled by their qualified name
                draw.__module__, draw.__qualname__ = owner.__name__, name
            setattr(owner, name, draw)

    def _tell_shared(self, frame: FrameType, where: str, seeded_in: tuple[CodeType, int] | None) -> None:
        """Report a draw of a task, once per place, if it depends on chance: on the worker that takes the task.

        Args:
            seeded_in: where the generator got its seed. A task that gives it draws the same in all workers.
        """
        place = frame.f_code, frame.f_lasti, os.getpid()
        if place in self.looked_at:
            return
        self.looked_at.add(place)
        call, caller = task_call(frame), beyond(BETWEEN, frame)
        if call is None or call == seeded_in or caller is None or self.project.place(caller.f_code) is None:
            return
        if where == "threads" or is_pool_worker():
            text = "draws in %s, which share the tasks by chance" % where
            self.recorder.event("uncontrolled", text, *self.project.nearest(caller))

    def at_rest(self, function: Any) -> Any:
        """Wrap a function that reads or sets the state of a generator: that of the stream of draws without a region."""

        def call(*args: Any, **kwargs: Any) -> Any:
            caller = self.project.innermost(sys._getframe(1))
            with Region(self.streams, SPLIT if caller is not None and self._is_early(caller) else OTHER):
                return function(*args, **kwargs)

        return wraps_like(call, function)

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

    def stream(self, frame: FrameType, call: str, *, is_order: bool = False) -> str | None:
        """Stream of a draw in this frame; None if a library draws for itself.

        Args:
            is_order: whether the draw orders or selects examples.
        """
        caller = beyond(BETWEEN, frame)
        if caller is None or self.project.place(caller.f_code) is None:
            return None
        varying = SHUFFLE if is_order else OTHER
        return self._purpose(caller, call, varying) if self._is_early(caller) else varying

    def _is_early(self, frame: FrameType) -> bool:
        """Whether a frame of the project is outside of its training; a simulation has none."""
        if self.is_training(frame):
            return False
        if not self.has_training:
            with self.recorder.guarded("search for a training"):
                self.has_training = self.flows.fits()
        return self.has_training

    def is_training(self, frame: FrameType) -> bool:
        """Whether a frame or one of its callers is in the main loop, or in a loop with taps where none is known."""
        return self.recorder.is_training or self.project.is_training(frame)

    def _purpose(self, frame: FrameType, call: str, varying: str) -> str:
        """The stream of a draw before the training, found once for each place and its callers.

        Args:
            varying: the stream of draws that are no examples.
        """
        key: list[int] = []
        outer: FrameType | None = frame
        while outer is not None and len(key) < 2 * MOST_FRAMES:
            key += id(outer.f_code), outer.f_lasti
            outer = outer.f_back
        purpose = self.purposes.get(tuple(key)) or self._find_purpose(tuple(key), frame, call, varying)
        _, stream, place = purpose
        if self.first_values is not None and varying == OTHER and stream == SPLIT:
            with self.recorder.guarded("names of a draw"):
                self.first_values.note(place, frame)
        return stream

    def _find_purpose(self, key: tuple[int, ...], frame: FrameType, call: str, varying: str) -> Purpose:
        frames = self.project.frames(frame)
        places = ["%s:%d" % (self.project.place(outer.f_code), outer.f_lineno) for outer in frames]
        place, stream = "<".join(places[:MOST_FRAMES]), SPLIT
        if places[0] in self.varied_places:
            stream = varying
        elif varying == OTHER and place in self.weights:
            stream = INIT
        if len(self.purposes) >= MOST_PURPOSES:
            self.purposes.clear()
        purpose = self.purposes[key] = [outer.f_code for outer in outwards(frame)], stream, place
        self.streams.record_draw(call, stream, *self.project.nearest(frame))
        return purpose

    def _bound_names(self, frame: FrameType) -> list[str]:
        names: list[str] = self.flows.bound_names(frame)
        return names

    @property
    def flows(self) -> Any:
        if self._flows is None:
            from .flows import Flows  # not at the start of every process, since it imports `ast`

            self._flows = Flows(self.project)
        return self._flows


def always(*args: Any, **kwargs: Any) -> bool:
    return True
