"""Merges what the processes of a run recorded, and selects the process that is used where they disagree."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, get_args

from deviate.model import Artifact, NotCaptured, Spec, Stream
from deviate.records.events import ProcessLog
from deviate.records.layout import artifacts_folder

T = TypeVar("T")
UNSEEN = {
    "predictions": "no evaluation of a model was seen; deviate.log_predictions keeps what is out of reach",
    "weights": "no model was seen in training; deviate.log_weights keeps what is out of reach",
}


def main_process(logs: Sequence[ProcessLog]) -> ProcessLog | None:
    """The main process of a run: the one of lowest rank, else the one that reported most; ties go to the first."""
    return min(logs, key=_preference, default=None)


def _preference(log: ProcessLog) -> tuple[bool, int, int, float, int]:
    n_values = sum(len(points.values) for points in log.points.values())
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


def environment(logs: Sequence[ProcessLog]) -> dict[str, str]:
    """Environment facts of all processes; those of the main process win, as helpers may use a single thread."""
    facts: dict[str, str] = {}
    for log in sorted(logs, key=_preference, reverse=True):
        facts.update(log.environment)
    return facts


def draws(logs: Sequence[ProcessLog]) -> dict[str, tuple[str, ...]]:
    """Random streams that were used, by library; empty if the main process was cut off before reporting them."""
    first = main_process(logs)
    if first is None or not (first.is_whole or first.draws):
        return {}
    order = get_args(Stream)
    streams_of: dict[str, set[str]] = {}
    for log in logs:
        for library, streams in log.draws.items():
            streams_of.setdefault(library, set()).update(streams)
    return {library: tuple(sorted(streams_of[library], key=order.index)) for library in sorted(streams_of)}


def not_captured(spec: Spec, files: Sequence[Artifact], logs: Sequence[ProcessLog]) -> tuple[NotCaptured, ...]:
    """What a whole run was to keep and did not: what the guest told, and what it never came to see."""
    reasons = union_over_processes(logs, lambda log: log.not_captured)
    wanted = dict(spec.capture)
    kinds = {*(artifact.kind for artifact in files), *(missing.kind for missing in reasons)}
    unseen = tuple(NotCaptured(kind, None, why) for kind, why in UNSEEN.items() if kind in wanted and kind not in kinds)
    return (*reasons, *unseen)


def artifacts(logs: Sequence[ProcessLog], attempts: Sequence[Path]) -> tuple[Artifact, ...]:
    """Captured files in order of time: by attempt, then by process within an attempt.

    Steps count on from one attempt to the next, as those of metrics do.

    Args:
        attempts: to which of them each log belongs, in order of time.
    """
    files: list[Artifact] = []
    offset = 0
    for attempt in dict.fromkeys(attempts):
        logs_of_attempt = [log for log, its in zip(logs, attempts, strict=True) if its == attempt]
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
