"""Merges what the processes of a run recorded: measurements, and the process that counts where they disagree."""

import dataclasses
import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar, get_args

from deviate.model.plan import SelectedMetric, Spec, Stream
from deviate.model.records import Artifact, NotCaptured, Series, Weights
from deviate.records.columns import NO_STEP, series_of
from deviate.records.events import Points, ProcessLog
from deviate.records.layout import artifacts_folder

T = TypeVar("T")
ONE_BIT = "one-bit"
"""In all phrases with which the guest tells that no bit was flipped."""
UNSEEN = {
    "predictions": "no evaluation of a model was detected; deviate.log_predictions captures predictions directly",
    "weights": "no model was detected in training; deviate.log_weights captures weights directly",
}


def measure(logs: Sequence[ProcessLog], folder: Path | None = None) -> dict[str, Series]:
    """The series of each metric in one run.

    Ranks of a distributed run report the same metric at the same time: the lowest rank counts, or, where ranks are
    unknown, the process that reported most. Processes that follow one another are joined.

    Args:
        logs: of all attempts that make up the run, in order of time; the time from the end of one attempt to the start
            of the next is no time of the run.
        folder: on whose disk long series lie while they are needed; None for the system's temporary folder.
    """
    delays = _delays(logs)
    counted = {
        name: _join_processes([(points, delays[id(log)]) for log, points in _pick_ranks(parts)])
        for name, parts in _by_metric(logs).items()
    }
    columns = {name: (points.steps, points.values, _known(points.times)) for name, points in counted.items()}
    return series_of(columns, folder)


def _known(times: "array[float]") -> "array[float]":
    """The times; none of them if they are NaN: not known where the run was imported from."""
    return times[:0] if times and math.isnan(times[0]) else times


def process_warnings(logs: Sequence[ProcessLog], metrics: Sequence[SelectedMetric]) -> list[str]:
    """Quality metrics that several processes of one attempt reported, where no rank tells which of them counts.

    Processes that report equal values say the same twice, and are not warned of.
    """
    qualities = {metric.name for metric in metrics if metric.role == "quality"}
    warnings = []
    for name, parts in _by_metric(logs).items():
        if name not in qualities:
            continue
        counted = _pick_ranks(parts)
        n_rivals = sum(
            any(log.rank == other.rank and points.values != its.values for other, its in counted)
            for log, points in parts
            if all(log is not other for other, _ in counted)
        )
        n_joined = max(Counter(log.attempt for log, _ in counted).values())
        if n_rivals:
            warnings.append(
                f"{name} was reported by {n_rivals + 1} processes at the same time, with different values: only the "
                "process that reported most or started first counts; report it from one process, or under one name "
                "per process"
            )
        elif n_joined > 1:
            warnings.append(
                f"{name} was reported by {n_joined} processes one after the other: their values are joined in order"
            )
    return warnings


def _by_metric(logs: Sequence[ProcessLog]) -> dict[str, list[tuple[ProcessLog, Points]]]:
    parts: dict[str, list[tuple[ProcessLog, Points]]] = {}
    for log in logs:
        for name, points in log.points.items():
            if points.steps:  # else what was reported of it stood in lines that could not be read
                parts.setdefault(name, []).append((log, points))
    return parts


def _delays(logs: Sequence[ProcessLog]) -> dict[int, float]:
    """How many seconds of the run had passed when each process (by identity) began, as far as clocks tell."""
    delays: dict[int, float] = {}
    before = 0.0
    for logs_of_attempt in _by_attempt(logs).values():
        begin = min((log.started for log in logs_of_attempt if log.started > 0), default=0.0)
        delays |= {id(log): before + max(0.0, log.started - begin) for log in logs_of_attempt}
        before += max(0.0, max(log.ended for log in logs_of_attempt) - begin)
    return delays


def _by_attempt(logs: Sequence[ProcessLog]) -> dict[Path, list[ProcessLog]]:
    """The logs of each attempt, in order of time."""
    logs_of: dict[Path, list[ProcessLog]] = {}
    for log in logs:
        logs_of.setdefault(log.attempt, []).append(log)
    return logs_of


def _pick_ranks(parts: Iterable[tuple[ProcessLog, Points]]) -> list[tuple[ProcessLog, Points]]:
    counted: list[tuple[ProcessLog, Points]] = []
    for log, points in sorted(parts, key=lambda part: _preference(part[0], len(part[1].values))):
        if all(log.started >= other.ended or log.ended <= other.started for other, _ in counted):
            counted.append((log, points))
    return sorted(counted, key=lambda part: part[0].started)


def _join_processes(parts: Sequence[tuple[Points, float]]) -> Points:
    """One process after another, each with its delay: steps that begin again go on where the last process ended."""
    if len(parts) == 1 and not parts[0][1]:
        return parts[0][0]
    joined, offset = Points(), 0
    for points, delay in parts:
        for step, value, seconds in zip(points.steps, points.values, points.times, strict=True):
            joined.add(step if step == NO_STEP else offset + step, value, delay + seconds)
        offset = 1 + max((step for step in joined.steps if step != NO_STEP), default=offset - 1)
    return joined


def main_process(logs: Sequence[ProcessLog]) -> ProcessLog | None:
    """The main process of a run: the one of lowest rank, else the one that reported most; ties go to the first."""
    return next(iter(_in_order(logs)), None)


def _in_order(logs: Sequence[ProcessLog]) -> list[ProcessLog]:
    """The main process first, then those that count less and less."""
    return sorted(logs, key=lambda log: _preference(log, sum(len(points.values) for points in log.points.values())))


def _preference(log: ProcessLog, n_values: int) -> tuple[bool, int, int, float, int]:
    return log.rank is None, log.rank or 0, -n_values, log.started, log.pid


def union_over_processes(logs: Sequence[ProcessLog], facts: Callable[[ProcessLog], Sequence[T]]) -> tuple[T, ...]:
    """What any process told, each once, in the order in which they were started: their first events race."""
    return tuple(dict.fromkeys(fact for log in sorted(logs, key=lambda log: log.pid) for fact in facts(log)))


def lowest_rank_facts(logs: Sequence[ProcessLog], facts: Callable[[ProcessLog], Sequence[T]]) -> tuple[T, ...]:
    """Facts of the lowest rank that reported any; processes without a rank are always included.

    Processes without a rank run one after another, or their order is unknown, so none of them can be preferred.
    """
    telling = [log for log in logs if facts(log)]
    lowest = min((log.rank for log in telling if log.rank is not None), default=None)
    return union_over_processes([log for log in telling if log.rank in {None, lowest}], facts)


def uncontrolled(logs: Sequence[ProcessLog]) -> tuple[str, ...]:
    """What no process controls; that a process had no place for the one bit is left out where another one had it."""
    is_flipped = any(log.flips for log in logs)
    phrases = union_over_processes(logs, lambda log: log.uncontrolled)
    return tuple(phrase for phrase in phrases if not (is_flipped and ONE_BIT in phrase))


def weights_of_ranks(logs: Sequence[ProcessLog]) -> tuple[Weights, ...]:
    """The weights of the run at each moment: those of any rank where all hold the same, else a hash of all hashes.

    So weights that are divided between ranks of an attempt count as a whole. Processes without a rank are always
    included.
    """
    weights: list[Weights] = []
    for logs_of_attempt in _by_attempt(logs).values():
        by_rank: dict[int | None, list[ProcessLog]] = {}
        for log in sorted(logs_of_attempt, key=lambda log: log.rank or 0):
            by_rank.setdefault(log.rank, []).append(log)
        weights += union_over_processes(by_rank.pop(None, []), lambda log: log.weights)
        together: dict[tuple[str, str, int], list[Weights]] = {}
        for of_rank in by_rank.values():
            n_before: Counter[tuple[str, str]] = Counter()
            for part in union_over_processes(of_rank, lambda log: log.weights):
                key = part.framework, part.moment
                together.setdefault((*key, n_before[key]), []).append(part)
                n_before[key] += 1
        weights += map(_join_weights, together.values())
    return tuple(dict.fromkeys(weights))


def _join_weights(parts: Sequence[Weights]) -> Weights:
    """The weights of all ranks at one moment, in order of the ranks."""
    digests = [part.digest for part in parts]
    if len(set(digests)) == 1:
        return parts[0]
    return dataclasses.replace(parts[0], digest=hashlib.sha256(" ".join(digests).encode()).hexdigest())


def environment(logs: Sequence[ProcessLog]) -> dict[str, str]:
    """Environment facts of all processes; those of the main process win, as helpers may use a single thread."""
    facts: dict[str, str] = {}
    for log in reversed(_in_order(logs)):
        facts.update(log.environment)
    return facts


def draws(logs: Sequence[ProcessLog]) -> dict[str, tuple[str, ...]]:
    """Random streams that were used, by library; empty if the main process was cut off before reporting them."""
    first = main_process(logs)
    if first is None or not (first.is_whole or first.draws):
        return {}
    drawn = {(library, stream) for log in logs for library, streams in log.draws.items() for stream in streams}
    libraries = sorted({library for log in logs for library in log.draws})
    return {
        library: tuple(stream for stream in get_args(Stream) if (library, stream) in drawn) for library in libraries
    }


def not_captured(spec: Spec, files: Sequence[Artifact], logs: Sequence[ProcessLog]) -> tuple[NotCaptured, ...]:
    """What a whole run was to keep and did not: what the guest told, and what it never came to see."""
    reasons = union_over_processes(logs, lambda log: log.not_captured)
    wanted = dict(spec.capture)
    kinds = {*(artifact.kind for artifact in files), *(missing.kind for missing in reasons)}
    unseen = tuple(NotCaptured(kind, None, why) for kind, why in UNSEEN.items() if kind in wanted and kind not in kinds)
    return (*reasons, *unseen)


def artifacts(logs: Sequence[ProcessLog]) -> tuple[Artifact, ...]:
    """Captured files in order of time: by attempt, then by process within an attempt.

    Steps count on from one attempt to the next, as those of metrics do.
    """
    files: list[Artifact] = []
    offset = 0
    for attempt, logs_of_attempt in _by_attempt(logs).items():
        for log in sorted(logs_of_attempt, key=lambda log: (log.started, log.pid)):
            files += [
                dataclasses.replace(
                    artifact,
                    path=artifacts_folder(attempt) / artifact.path,
                    step=None if artifact.step is None else artifact.step + offset,
                    rank=log.rank,
                )
                for artifact in log.artifacts
            ]
        offset = max([offset, *(offset + points.last + 1 for log in logs_of_attempt for points in log.points.values())])
    return tuple(files)
