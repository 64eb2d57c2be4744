"""What one process of a run recorded, read from its event file: measurements by step, and other events."""

from array import array
from dataclasses import dataclass, field

from deviate.model import (
    Artifact,
    ControlEvent,
    DrawEvent,
    EvaluationData,
    Flip,
    NotCaptured,
    Place,
    SeedEvent,
    Weights,
)
from deviate.records.columns import NO_STEP


@dataclass(frozen=True, slots=True)
class Source:
    """Where a measurement came from: a site or a framework's metric name, and the call path to it."""

    site: int | None
    name: str | None
    path: tuple[Place, ...]
    label: str | None


@dataclass(slots=True)
class Points:
    """Measurements by main-loop step (NO_STEP outside of the loop); the last one within a step is kept.

    Attributes:
        times: seconds since the start of the process at which each value was reported.
        last: the last of the steps, NO_STEP where there is none.
    """

    steps: "array[int]" = field(default_factory=lambda: array("q"))
    values: "array[float]" = field(default_factory=lambda: array("d"))
    times: "array[float]" = field(default_factory=lambda: array("d"))
    last: int = NO_STEP

    def add(self, step: int, value: float, seconds: float) -> None:
        if step > self.last or step == NO_STEP != self.last or not self.steps:
            self.steps.append(step)
            self.values.append(value)
            self.times.append(seconds)
            self.last = step
        elif step == self.last:
            self.values[-1] = value
            self.times[-1] = seconds
        else:
            self._add_late(step, value, seconds)

    def _add_late(self, step: int, value: float, seconds: float) -> None:
        """Add a value that was read from an accelerator after its step had ended."""
        index = len(self.steps)
        while index and self.steps[index - 1] > step:
            index -= 1
        if index and self.steps[index - 1] == step:
            self.values[index - 1] = value
            self.times[index - 1] = seconds
        else:
            self.steps.insert(index, step)
            self.values.insert(index, value)
            self.times.insert(index, seconds)


@dataclass(slots=True)
class ProcessLog:
    """What one process recorded.

    Attributes:
        started, ended: seconds since the epoch of its first and last event.
        is_whole: whether the process left in good order, so that what is told last was told.
        n_steps: main-loop steps begun, over all times the loop was entered.
        n_bad: lines that are no events; n_torn: 1 when the last line was cut off.
        ways: ways to sites by the numbers that the process gave them.
        points: by name of the metric.
        checkpoints: files of an earlier training that the run started from, each with what told so.
        draws: library to the streams from which numbers were drawn.
        drawn: draws outside of the main loop whose values may be data.
        operations, uncontrolled: phrases, each with its place.
        artifacts: files with outputs and weights, with their names alone as paths.
        not_captured: what was to be kept and could not be.
    """

    pid: int = 0
    rank: int | None = None
    started: float = 0.0
    ended: float = 0.0
    is_whole: bool = False
    n_steps: int = 0
    n_bad: int = 0
    n_torn: int = 0
    ways: dict[int, tuple[Place, ...]] = field(default_factory=dict)
    points: dict[str, Points] = field(default_factory=dict)
    seeds: list[SeedEvent] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    checkpoints: list[tuple[str, str]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    controls: list[ControlEvent] = field(default_factory=list)
    draws: dict[str, list[str]] = field(default_factory=dict)
    drawn: list[DrawEvent] = field(default_factory=list)
    weights: list[Weights] = field(default_factory=list)
    evaluation: list[EvaluationData] = field(default_factory=list)
    flips: list[Flip] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    uncontrolled: list[str] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    not_captured: list[NotCaptured] = field(default_factory=list)
