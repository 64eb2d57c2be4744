"""What the guest hands to its adapters: the parts that they work with."""

from __future__ import annotations

from .bits import Moment
from .capture import Capture
from .files import Guard
from .project import Project
from .recorder import Recorder
from .seeds import Seeding
from .streams import Streams
from .trace import Trace


class Guest:
    """The guest of this process, part by part.

    Attributes:
        controls: what is to be done to factors, name to level; empty in `as-is`.
        flip: when the one bit is to be flipped, where that is asked for.
        capture: keeps outputs and weights where the run asks for it.
        trace: takes down what is computed where the run asks for it.
    """

    def __init__(
        self,
        recorder: Recorder,
        streams: Streams,
        seeding: Seeding,
        project: Project,
        guard: Guard,
        controls: dict[str, str],
        capture: Capture,
        trace: Trace,
    ) -> None:
        self.recorder = recorder
        self.streams = streams
        self.seeding = seeding
        self.project = project
        self.guard = guard
        self.controls = controls
        self.flip = Moment(controls.get("one-bit-step", "0"), recorder)
        self.capture = capture
        self.trace = trace
