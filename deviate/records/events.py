"""Event files read back: per process what each site reported, step by step, and what else happened.

A file is read piece by piece and folded at once, so that a value takes 24 bytes, and a step none.
"""

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import convert

from deviate import eventlog
from deviate.eventlog import event_of, fields_of, line_starts, number
from deviate.model.analysis import Place
from deviate.model.cost import Pace, Profile
from deviate.model.places import place_text
from deviate.model.plan import Stream
from deviate.model.records import (
    Artifact,
    ArtifactKind,
    ControlEvent,
    DrawEvent,
    EvaluationData,
    Flip,
    NotCaptured,
    Run,
    SeedEvent,
    Weights,
)
from deviate.records.columns import NO_STEP
from deviate.records.files import BAD, json_lines, read_json, reading
from deviate.records.layout import event_files
from deviate.series.caption import Caption
from deviate.series.naming import Phase


@dataclass(frozen=True, slots=True)
class ValueSource:
    """Where a measurement came from: a site or a framework's metric name, and the call path to it.

    Attributes:
        caption: the words under which the output of the run shows it, None where it does not.
        phase: before, along or after the main loop.
    """

    site: int | None
    name: str | None
    path: tuple[Place, ...]
    label: str | None
    caption: Caption | None = None
    phase: Phase = "along"


@dataclass(slots=True)
class Points:
    """Measurements by main-loop step (NO_STEP outside of the loop), in order of step and then of arrival.

    A value that was read from an accelerator after its step had ended takes its place behind those of its step.

    Attributes:
        times: seconds since the start of the process at which each value was reported.
        last: the greatest of the steps, NO_STEP where there is none.
    """

    steps: "array[int]" = field(default_factory=lambda: array("q"))
    values: "array[float]" = field(default_factory=lambda: array("d"))
    times: "array[float]" = field(default_factory=lambda: array("d"))
    last: int = NO_STEP

    def add(self, step: int, value: float, seconds: float) -> None:
        if step >= self.last or step == NO_STEP:
            self.steps.append(step)
            self.values.append(value)
            self.times.append(seconds)
            self.last = max(self.last, step)
        else:
            index = self._end_of(step)
            self.steps.insert(index, step)
            self.values.insert(index, value)
            self.times.insert(index, seconds)

    def _end_of(self, step: int) -> int:
        """Index behind the values up to a step, where one of a later step has been added."""
        index = end = len(self.steps)
        while index and (self.steps[index - 1] > step or self.steps[index - 1] == NO_STEP):
            index -= 1
            if self.steps[index] != NO_STEP:
                end = index
        return end


@dataclass(slots=True)
class ProcessLog:
    """What one process recorded.

    Attributes:
        attempt: the folder of the attempt that it belongs to.
        started, ended: seconds since the epoch of its first and last event.
        is_whole: whether the process left in good order, so that what is told last was told.
        has_main: whether the main loop has begun.
        n_bad: lines that are no events; n_torn: 1 when the last line was cut off.
        ways: ways to sites by the numbers that the process gave them.
        points: by name of the metric.
        old_models: models that existed before the run and that it read: path and place.
        trained_s: seconds at which the last training step ended; None where none was seen.
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
    has_main: bool = False
    n_bad: int = 0
    n_torn: int = 0
    ways: dict[int, tuple[Place, ...]] = field(default_factory=dict)
    points: dict[str, Points] = field(default_factory=dict)
    seeds: list[SeedEvent] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    old_models: list[str] = field(default_factory=list)
    trained_s: float | None = None
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
    attempt: Path = Path()


T = TypeVar("T")
UNKNOWN_MAIN = -1
"""The guest's number for the main loop of a managed framework that the analysis did not find."""
LARGEST_STEP = 1 << 53


class _Steps:
    """Steps of a loop that go on rising when the loop is entered again."""

    __slots__ = ("is_announced", "last", "offset")

    def __init__(self) -> None:
        self.offset = 0
        self.last = -1
        self.is_announced = False

    def begin(self, step: int) -> None:
        self._advance(step, is_over=step <= self.last)
        self.is_announced = True

    def at(self, step: int) -> int:
        if not self.is_announced:
            self._advance(step, is_over=step < self.last)
        return self.offset + step

    def _advance(self, step: int, *, is_over: bool) -> None:
        if abs(step) > LARGEST_STEP:  # it would put those that come after it out of reach
            raise ValueError("no step")
        if is_over:
            self.offset += self.last + 1
        self.last = step


def read_events(
    path: Path,
    main_loop: int | None,
    name: Callable[[ValueSource], str | None],
    captions: Mapping[int, Caption] = MappingProxyType({}),
) -> ProcessLog:
    """Read the events of one process.

    Args:
        main_loop: id of the loop whose steps count.
        name: gives the metric that a source belongs to, None when its values are not wanted.
        captions: the words of values at sites, by their ordinal in the file.
    """
    log = ProcessLog(attempt=path.parent)
    damage: Counter[str] = Counter()
    loops: dict[int | None, _Steps] = {number: _Steps() for number in (main_loop, UNKNOWN_MAIN) if number is not None}
    targets: dict[tuple[object, ...], Points | None] = {}
    seconds = 0.0
    ordinal = -1
    main = loops.get(main_loop)
    for event in json_lines(path, lambda kind: damage.update([kind])):
        try:  # the hot loop of reading: what is frequent comes first
            kind = event[0]
            if kind == "step":
                seconds = event[3]
                if event[1] in loops:
                    loops[event[1]].begin(event[2])
                    log.has_main = True
            elif (is_at_site := type(kind) is int) or kind == "named":
                ordinal += is_at_site
                caption = captions.get(ordinal) if is_at_site else None
                origin, way, around, seconds, value, *rest = event if is_at_site else event[1:]
                if type(value) is not float or type(seconds) is not float:
                    value, seconds = float(number(value)), float(seconds)
                if main is not None and main.is_announced and around and around[0] == main_loop:
                    step = main.offset + around[1]
                else:
                    step = _main_step(around, loops)
                    log.has_main = log.has_main or step != NO_STEP
                phase: Phase = "along" if step != NO_STEP else "after" if log.has_main else "before"
                label = rest[0] if rest else None
                key = (origin, way, label, id(caption), phase)
                if key not in targets:
                    site, reported = (origin, None) if is_at_site else (None, str(origin))
                    metric = name(ValueSource(site, reported, log.ways[way], label, caption, phase))
                    targets[key] = None if metric is None else log.points.setdefault(metric, Points())
                points = targets[key]
                if points is not None:
                    points.add(step, value, seconds)
            else:
                RARE[kind](event_of(*event), log)
        except BAD:
            log.n_bad += 1
    log.n_bad += damage["bad"]
    log.n_torn = damage["torn"]
    if not log.is_whole:
        log.ended = log.started + (seconds if isinstance(seconds, int | float) else 0.0)
    return log


def _main_step(around: list[int], loops: Mapping[int | None, _Steps]) -> int:
    """The step of the first loop in `loops` that runs; the one the analysis found goes before a framework's own."""
    for loop, steps in loops.items():
        for index in range(0, len(around), 2):
            if around[index] == loop:
                return steps.at(around[index + 1])
    return NO_STEP


def _start(event: eventlog.StartEntry, log: ProcessLog) -> None:
    if event.schema != eventlog.SCHEMA:
        raise ValueError("events of another guest")
    facts = event.facts
    log.pid = int(facts["pid"])
    log.started = float(facts["time"])
    log.environment.update({key: str(facts[key]) for key in ("python", "implementation", "platform") if key in facts})
    log.rank = None if facts.get("rank") is None else int(facts["rank"])


def _rank(event: eventlog.RankEntry, log: ProcessLog) -> None:
    log.rank = int(event.rank)


def _path(event: eventlog.PathEntry, log: ProcessLog) -> None:
    log.ways[event.id] = tuple(Place(str(file), int(line)) for file, line in event.calls)


def _end(event: eventlog.EndEntry, log: ProcessLog) -> None:
    log.ended = log.started + float(event.seconds)
    log.is_whole = True


def _draws(event: eventlog.DrawsEntry, log: ProcessLog) -> None:
    log.draws.setdefault(str(event.library), []).extend(convert(event.streams, list[Stream]))


def _flip(event: eventlog.FlipEntry, log: ProcessLog) -> None:
    before, after = float(number(event.before)), float(number(event.after))
    log.flips.append(_value_of(event, Flip, index=event.indices, before=before, after=after))


def _phrase(event: eventlog.OperationEntry | eventlog.UncontrolledEntry) -> str:
    """What happened and where; a library's own doing has no place in the project."""
    name, file, line = event
    return f"{name} ({place_text(file, int(line))})" if file else str(name)


def _artifact(event: eventlog.ArtifactEntry, log: ProcessLog) -> None:
    if Path(event.file).name != event.file:
        raise ValueError("no artifact of ours")
    step = None if int(event.step) < 0 else int(event.step)
    kind = convert(event.kind, ArtifactKind)
    log.artifacts.append(Artifact(kind, str(event.name), step, str(event.framework), Path(event.file), int(event.n)))


def _trained(event: eventlog.TrainedEntry, log: ProcessLog) -> None:
    log.trained_s = float(event.seconds)


def _environment(event: eventlog.EnvironmentEntry, log: ProcessLog) -> None:
    log.environment.update({str(key): str(value) for key, value in event.facts.items()})


RARE: Mapping[str, Callable[[Any, ProcessLog], None]] = MappingProxyType({
    "start": _start,
    "rank": _rank,
    "end": _end,
    "path": _path,
    "seed": lambda event, log: log.seeds.append(_value_of(event, SeedEvent)),
    "control": lambda event, log: log.controls.append(_value_of(event, ControlEvent)),
    "draws": _draws,
    "drawn": lambda event, log: log.drawn.append(_value_of(event, DrawEvent)),
    "uncontrolled": lambda event, log: log.uncontrolled.append(_phrase(event)),
    "operation": lambda event, log: log.operations.append(_phrase(event)),
    "weights": lambda event, log: log.weights.append(_value_of(event, Weights)),
    "evaluation": lambda event, log: log.evaluation.append(_value_of(event, EvaluationData)),
    "flip": _flip,
    "artifact": _artifact,
    "not captured": lambda event, log: log.not_captured.append(NotCaptured(*map(str, event))),
    "write": lambda event, log: log.writes.append(str(event.path)),
    "old model": lambda event, log: log.old_models.append(f"{event.path} (read at {event.file}:{event.line})"),
    "trained": _trained,
    "error": lambda event, log: log.errors.append(f"{event.where}: {event.message}"),
    "environment": _environment,
    # Read by others: causes by `deviate diverge`, checkpoints, signals and first values by the executor, loops before
    # all else.
    **dict.fromkeys(("chance", "checkpoint", "first value", "signal", "loops"), lambda *_: None),
})  # fmt: skip
"""Handlers of the events that occur a few times per run, by kind; an unknown kind is a bad line."""


def _value_of(event: Any, kind: type[T], **changed: object) -> T:
    """An event as the value of the same fields. Numbers may be texts: the guest writes those of NumPy so.

    Raises:
        ValueError: a field is of another kind.
    """
    return convert({**dict(zip(event._fields, event, strict=True)), **changed}, kind, strict=False)


def events_in(path: Path, *kinds: str, end_bytes: int | None = None) -> Iterator[tuple[str, Any]]:
    """The events of some kinds in a file, or in its last bytes, each with its kind. All other lines are passed over.

    Raises:
        OSError: the file cannot be read.
    """
    marks = tuple(mark for kind in kinds for mark in line_starts(kind))
    with path.open("rb") as file:
        if end_bytes is not None:
            file.seek(max(0, os.fstat(file.fileno()).st_size - end_bytes))
        for line in file:
            if line.startswith(marks):
                with suppress(*BAD):
                    kind, fields = fields_of(line)
                    yield kind, event_of(kind, *fields)


def has_values(attempt: Path) -> bool:
    """Whether any process of an attempt recorded a value. Raises OSError."""
    return any(True for path in event_files(attempt) for _ in events_in(path, "value", "named"))


def first_values(attempt: Path) -> list[str]:
    """Places of draws that are first values of weights. Raises OSError."""
    return [str(event.place) for path in event_files(attempt) for _, event in events_in(path, "first value")]


# Speed of main loops and profiler results, read from the files of an attempt.


def pace_of(attempt: Path, main_loop: int | None) -> Pace | None:
    """Speed of the main loop in the process with the most steps; None for fewer than two steps.

    Args:
        main_loop: id of the loop whose steps count; one of a managed framework counts where it took fewer than two.
    """
    times: dict[tuple[bool, Path], list[float]] = {}
    for path in event_files(attempt):
        for _, (loop, _, seconds) in events_in(path, "step"):
            if loop in {main_loop, UNKNOWN_MAIN}:
                times.setdefault((loop == main_loop, path), []).append(float(seconds))
    paces = [
        (is_main, Pace(len(seconds), (seconds[-1] - seconds[0]) / (len(seconds) - 1)))
        for (is_main, _), seconds in times.items()
        if len(seconds) > 1
    ]
    return max(paces, key=lambda pair: (pair[0], pair[1].n_steps), default=(None, None))[1]


def profile_of(run: Run) -> Profile | None:
    """The profile of a run, from its first profiled process; None if there is none.

    Raises:
        RecordError: the file is missing or damaged.
    """
    artifact = next((artifact for artifact in run.artifacts if artifact.kind == "profile"), None)
    if artifact is None:
        return None
    document = read_json(artifact.path, has_digest=False)
    with reading(artifact.path):
        kernels = [dict(zip(("name", "calls", "seconds"), row, strict=True)) for row in document["kernels"]]
        return convert(document | {"replicate": run.replicate, "kernels": kernels}, Profile)
