"""The services that the guest offers to its adapters."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from threading import get_ident
from types import FrameType

from .annotations import TYPE_CHECKING, Any, Callable, Iterator, Sequence
from .observers.bits import Moment
from .observers.capture import Capture
from .observers.inputs import Inputs
from .observers.trace import TraceWriter
from .project import GuestProject
from .recorder import Recorder
from .seeds import Seeding, wraps_like
from .streams import Streams
from .write_guard import WriteGuard

if TYPE_CHECKING:
    from typing import TypeVar

    P = TypeVar("P")


CURES = frozenset(("listing", "clock", "entropy", "workers"))
"""Controls that change what enters the program."""


class AdapterContext:
    """Services of the guest in this process.

    Attributes:
        controls: what is to be done to factors, name to level; empty in `as-is`.
        weights: places of draws before the training that are first values of weights; None where this run finds them.
        flip: when the one bit is to be flipped, where that is asked for.
        capture: keeps outputs and weights where the run asks for it.
        trace: takes down what is computed where the run asks for it.
        inputs: takes down what enters the program from outside, for the trace.
        watches_inputs: whether functions through which that enters are to be patched, for the trace or for a cure.
        is_inside: whether a model is running, or whatever else whose calls of models are no training and no evaluation.
        is_fitting: whether a trainer trains a model now, its validation left out: what models compute is no evaluation.
        is_own_call: whether the guest itself calls a model of the script.
    """

    def __init__(
        self,
        recorder: Recorder,
        streams: Streams,
        seeding: Seeding,
        project: GuestProject,
        guard: WriteGuard,
        controls: dict[str, str],
        capture: Capture,
        trace: TraceWriter,
    ) -> None:
        self.recorder = recorder
        self.streams = streams
        self.seeding = seeding
        self.project = project
        self.guard = guard
        self.controls = controls
        self.weights: Sequence[str] | None = None
        self.flip = Moment(controls.get("one-bit-step", "0"), recorder)
        self._parts: dict[object, Any] = {}
        self.has_looked = False
        recorder.at_main_step.append(self._at_first_step)
        self.capture = capture
        self.trace = trace
        self.inputs = Inputs(trace)
        self.watches_inputs = bool(trace.requested_level) or not CURES.isdisjoint(controls)
        seeding.at_unseeded = self._record_unseeded
        self.is_inside = False
        self.is_fitting = False
        self.is_own_call = False
        self.followed: int | None = None

    @contextmanager
    def follow_thread(self) -> Iterator[None]:
        """A context in which this thread stands for the one in which the process began: the script trains in it."""
        before, now = self.streams.thread, get_ident()
        self.followed = now
        self._follow(now)
        try:
            yield
        finally:
            self._follow(before)

    def is_beside(self) -> bool:
        """Whether this thread trains beside the one that is followed; what it computes must be left to it."""
        return self.followed is not None and get_ident() != self.followed

    def _follow(self, thread: int) -> None:
        self.streams.thread = self.capture.thread = self.inputs.main_thread = thread
        self.trace.follow_thread(thread)

    def part(self, make: Callable[[AdapterContext], P]) -> P:
        """The result of `make`, created once per process and shared by all adapters."""
        if make not in self._parts:
            self._parts[make] = make(self)
        return self._parts[make]  # type: ignore[no-any-return]

    def observe(
        self,
        owner: Any,
        name: str,
        *,
        before: Callable[..., object] | None = None,
        after: Callable[..., object] | None = None,
        where: str = "",
    ) -> None:
        """Call functions at each call of `owner.name`, if it exists; errors in them are faults of the guest.

        Args:
            before: called with its arguments; the frame of the caller is two above that of this function.
            after: called with its result and its arguments, if it ends well.
            where: what a fault says; by default the name.
        """
        original = getattr(owner, name, None)
        if original is None:
            return
        recorder, where = self.recorder, where or name

        def call(*args: Any, **kwargs: Any) -> Any:
            if before is not None:
                with recorder.guarded(where):
                    before(*args, **kwargs)
            result = original(*args, **kwargs)
            if after is not None:
                with recorder.guarded(where):
                    after(result, *args, **kwargs)
            return result

        setattr(owner, name, wraps_like(call, original))

    def _record_unseeded(self, call: str) -> None:
        """The project seeds a generator with nothing, so it is seeded by the operating system."""
        if self.inputs.is_active:
            place = self.inputs.place(sys._getframe(2))
            self.inputs.record("entropy", "%s()" % call, None, place, "a seed of the system")

    def _at_first_step(self, step: int) -> None:
        self.recorder.at_main_step.remove(self._at_first_step)
        self.look_for_held_out(sys._getframe(1))

    def look_for_held_out(self, frame: FrameType) -> None:
        """Training begins: record the hash of the script's test data, once."""
        if self.has_looked:
            return
        self.has_looked = True
        from .observers.held_out import record_held_out  # most processes train nothing

        with self.recorder.guarded("held-out data"):
            record_held_out(self.recorder, self.project, frame)
