"""Event files read back: per process what each site reported, step by step, and what else happened.

A file is read piece by piece and folded at once, so memory grows with the number of steps, not of events.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from deviate.eventlog import SCHEMA, decode, number
from deviate.model import (
    Artifact,
    ControlEvent,
    DrawEvent,
    EvaluationData,
    Evidence,
    Flip,
    Place,
    SeedEvent,
    Stream,
    Weights,
)
from deviate.records.columns import NO_STEP
from deviate.records.json_lines import BAD, json_lines
from deviate.records.layout import event_files
from deviate.records.process_log import Points, ProcessLog, Source

UNKNOWN_MAIN = -1
"""The guest's number for the main loop of a managed framework that the analysis did not see."""
LARGEST_STEP = 1 << 53
VALUES = frozenset({"value", "named"})
PIECE_CHARACTERS = 1 << 14
"""How much of a file is read at a time: so few events that the garbage collector does not begin to look at them, which
would take longer than all the rest."""


class _Steps:
    """Steps of a loop that go on rising when the loop is entered again."""

    __slots__ = ("is_announced", "last", "offset")

    def __init__(self) -> None:
        self.offset = 0
        self.last = -1
        self.is_announced = False

    def begin(self, step: int) -> None:
        _check(step)
        self.is_announced = True
        if step <= self.last:
            self.offset += self.last + 1
        self.last = step

    def at(self, step: int) -> int:
        if not self.is_announced:
            _check(step)
            if step < self.last:
                self.offset += self.last + 1
            self.last = step
        return self.offset + step


def _check(step: int) -> None:
    """One absurd step must not put those that come after it out of reach."""
    if abs(step) > LARGEST_STEP:
        raise ValueError("no step")


def read_events(path: Path, main_loop: int | None, name: Callable[[Source], str | None]) -> ProcessLog:
    """Read the events of one process.

    Args:
        main_loop: id of the loop whose steps count.
        name: gives the metric that a source belongs to, None when its values are not wanted.
    """
    log = ProcessLog()
    loops: dict[int | None, _Steps] = {number: _Steps() for number in (main_loop, UNKNOWN_MAIN) if number is not None}
    targets: dict[tuple[int | str, int, str | None], Points | None] = {}
    seconds = 0.0
    main = loops.get(main_loop)
    for event in _events(path, log):  # the hot loop of reading: what is frequent comes first
        try:
            kind = event[0]
            if kind == "step":
                seconds = event[3]
                if event[1] in loops:
                    loops[event[1]].begin(event[2])
                    log.n_steps += 1
            elif kind in VALUES:
                _, origin, way, around, seconds, value, *rest = event
                if type(value) is not float or type(seconds) is not float:
                    value, seconds = float(number(value)), float(seconds)
                key = (origin, way, rest[0] if rest else None)
                if key not in targets:
                    targets[key] = _target(log, Source(*_origin(kind, origin), log.ways[way], key[2]), name)
                points = targets[key]
                if main is not None and main.is_announced and around and around[0] == main_loop:
                    step = main.offset + around[1]
                else:
                    step = _main_step(around, loops)
                if points is not None:
                    points.add(step, value, seconds)
            else:
                RARE[kind](event, log)
        except BAD:
            log.n_bad += 1
    if not log.is_whole:
        log.ended = log.started + (seconds if isinstance(seconds, int | float) else 0.0)
    return log


def _events(path: Path, log: ProcessLog) -> Iterator[list[Any]]:
    """The events of a file in order; what is no line of JSON, and a line that was cut off, is counted in the log."""

    def count_bad() -> None:
        log.n_bad += 1

    def count_torn() -> None:
        log.n_torn += 1

    return json_lines(path, piece=PIECE_CHARACTERS, on_bad=count_bad, on_torn=count_torn, decode=decode)


def _origin(kind: str, origin: int | str) -> tuple[int | None, str | None]:
    return (int(origin), None) if kind == "value" else (None, str(origin))


def _target(log: ProcessLog, source: Source, name: Callable[[Source], str | None]) -> Points | None:
    metric = name(source)
    return None if metric is None else log.points.setdefault(metric, Points())


def _main_step(around: list[int], loops: Mapping[int | None, _Steps]) -> int:
    """The step of the first loop in `loops` that runs; the one the analysis found goes before a framework's own."""
    for loop, steps in loops.items():
        for index in range(0, len(around), 2):
            if around[index] == loop:
                return steps.at(around[index + 1])
    return NO_STEP


def _start(event: list[Any], log: ProcessLog) -> None:
    if event[1] > SCHEMA:
        raise ValueError("events of a newer guest")
    facts = event[2]
    log.pid = int(facts["pid"])
    log.started = float(facts["time"])
    log.environment.update({key: str(facts[key]) for key in ("python", "implementation", "platform") if key in facts})
    log.rank = None if facts.get("rank") is None else int(facts["rank"])


def _path(event: list[Any], log: ProcessLog) -> None:
    log.ways[event[1]] = tuple(Place(str(file), int(line)) for file, line in event[2])


def _end(event: list[Any], log: ProcessLog) -> None:
    log.ended = log.started + float(event[1])
    log.is_whole = True


def _seed(event: list[Any], log: ProcessLog) -> None:
    _, call, value, file, line, action = event
    if action not in {"kept", "replaced", "fixed"}:
        raise ValueError("unknown action")
    log.seeds.append(SeedEvent(str(call), str(value), str(file), int(line), action))


def _control(event: list[Any], log: ProcessLog) -> None:
    _, factor, call, value, file, line, action = event
    if action not in {"set", "overridden"}:
        raise ValueError("unknown action")
    log.controls.append(ControlEvent(str(factor), str(call), str(value), str(file), int(line), action))


def _draws(event: list[Any], log: ProcessLog) -> None:
    _, library, streams = event
    if not isinstance(streams, list) or not set(streams) <= set(get_args(Stream)):
        raise ValueError("unknown stream")
    log.draws.setdefault(str(library), []).extend(streams)


def _weights(event: list[Any], log: ProcessLog) -> None:
    _, moment, framework, digest, n_parameters = event
    if moment not in {"loop", "exit"}:
        raise ValueError("unknown moment")
    log.weights.append(Weights(moment, str(framework), str(digest), int(n_parameters)))


def _evaluation(event: list[Any], log: ProcessLog) -> None:
    _, framework, digest, n_examples, *rest = event
    evidence: Evidence = rest[0] if rest else "inputs"  # before 2026-11-23 nothing told which evaluations had examples
    if evidence not in get_args(Evidence):
        raise ValueError("unknown evidence")
    log.evaluation.append(EvaluationData(str(framework), str(digest), int(n_examples), evidence))


def _drawn(event: list[Any], log: ProcessLog) -> None:
    _, call, stream, file, line = event
    if stream not in get_args(Stream):
        raise ValueError("unknown stream")
    log.drawn.append(DrawEvent(str(call), stream, str(file), int(line)))


def _flip(event: list[Any], log: ProcessLog) -> None:
    _, framework, parameter, index, before, after = event
    if not isinstance(index, list):
        raise TypeError("an index is a list")
    place = tuple(int(position) for position in index)
    log.flips.append(Flip(str(framework), str(parameter), place, float(number(before)), float(number(after))))


def _operation(event: list[Any], log: ProcessLog) -> None:
    log.operations.append(_phrase(*event[1:]))


def _uncontrolled(event: list[Any], log: ProcessLog) -> None:
    log.uncontrolled.append(_phrase(*event[1:]))


def _phrase(what: str, file: str, line: int) -> str:
    """What happened and where; a library's own doing has no place in the project."""
    return f"{what} ({file}:{int(line)})" if file else str(what)


def _artifact(event: list[Any], log: ProcessLog) -> None:
    _, kind, name, step, framework, file, n = event
    if kind not in {"predictions", "weights", "profile"} or Path(file).name != file:
        raise ValueError("no artifact of ours")
    place = None if int(step) < 0 else int(step)
    log.artifacts.append(Artifact(kind, str(name), place, str(framework), Path(file), int(n)))


def _not_captured(event: list[Any], log: ProcessLog) -> None:
    _, kind, name, reason = event
    log.not_captured.append(f"{kind} of {name}: {reason}")


def _write(event: list[Any], log: ProcessLog) -> None:
    log.writes.append(str(event[1]))


def _checkpoint(event: list[Any], log: ProcessLog) -> None:
    _, path, reason = event
    log.checkpoints.append((str(path), str(reason)))


def _error(event: list[Any], log: ProcessLog) -> None:
    log.errors.append(f"{event[1]}: {event[2]}")


def _signal(event: list[Any], _: ProcessLog) -> None:
    """A signal that the process sent to itself: the executor reads it, and the result tells it as a reason."""
    int(event[1])


def _environment(event: list[Any], log: ProcessLog) -> None:
    log.environment.update({str(key): str(value) for key, value in event[1].items()})


RARE: Mapping[str, Callable[[list[Any], ProcessLog], None]] = MappingProxyType({
    "start": _start,
    "end": _end,
    "path": _path,
    "seed": _seed,
    "control": _control,
    "draws": _draws,
    "drawn": _drawn,
    "uncontrolled": _uncontrolled,
    "operation": _operation,
    "weights": _weights,
    "evaluation": _evaluation,
    "flip": _flip,
    "artifact": _artifact,
    "not captured": _not_captured,
    "write": _write,
    "checkpoint": _checkpoint,
    "signal": _signal,
    "error": _error,
    "environment": _environment,
})  # fmt: skip
"""What reads the events that come a few times per run, by kind; a kind that is not here is a bad line."""
DATA: Mapping[bytes, Callable[[list[Any], ProcessLog], None]] = MappingProxyType({
    b'["evaluation"': _evaluation,
    b'["drawn"': _drawn,
})  # fmt: skip
"""What reads the events that tell of the data, by how their lines begin."""


def evaluation_of(attempt: Path) -> tuple[tuple[EvaluationData, ...], tuple[DrawEvent, ...]]:
    """The data that an attempt was tested on and what it drew outside of the main loop; all else is passed over.

    Raises:
        OSError: a file cannot be read.
    """
    log = ProcessLog()
    for path in event_files(attempt):
        with path.open("rb") as file:
            for line in file:
                for begin, read in DATA.items():
                    if line.startswith(begin):
                        with suppress(*BAD):
                            read(decode(line), log)
    return tuple(dict.fromkeys(log.evaluation)), tuple(dict.fromkeys(log.drawn))
