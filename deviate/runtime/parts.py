"""What the guest hands to its adapters: the parts that they work with."""

from __future__ import annotations

from .files import Guard
from .project import Project
from .recorder import Recorder
from .seeds import Seeding
from .streams import Streams


class Guest:
    """The guest of this process, part by part.

    Attributes:
        controls: what is to be done to factors, name to level; empty in `as-is`.
    """

    def __init__(
        self,
        recorder: Recorder,
        streams: Streams,
        seeding: Seeding,
        project: Project,
        guard: Guard,
        controls: dict[str, str],
    ) -> None:
        self.recorder = recorder
        self.streams = streams
        self.seeding = seeding
        self.project = project
        self.guard = guard
        self.controls = controls
