"""What the guest hands to its adapters: the parts that they work with."""

from __future__ import annotations

from .files import Guard
from .project import Project
from .recorder import Recorder
from .seeds import Seeding


class Guest:
    """The guest of this process, part by part."""

    def __init__(self, recorder: Recorder, seeding: Seeding, project: Project, guard: Guard) -> None:
        self.recorder = recorder
        self.seeding = seeding
        self.project = project
        self.guard = guard
