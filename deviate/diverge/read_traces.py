"""Reads the traces of an attempt: what each of its processes computed, by rank, and the arrays that were stored."""

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deviate.diverge.findings import Trace
from deviate.diverge.trace_log import Texts, read_file
from deviate.errors import RecordError
from deviate.records import artifacts_folder, event_files, snapshot_folder

if TYPE_CHECKING:  # commands that only list or show should not wait for NumPy to load
    import numpy.typing as npt


def read_traces(attempt: Path) -> tuple[Trace, ...]:
    """The traces of all processes of an attempt that computed something, by rank.

    Processes that give themselves the same rank, as those without one do, are numbered in the order in which they
    started: the first keeps its rank, the others follow after the largest.

    Raises:
        RecordError: a newer deviate wrote them.
    """
    texts = Texts(snapshot_folder(attempt.parent.parent.parent))
    starts = _starts(attempt)
    read = [
        trace for path in sorted(artifacts_folder(attempt).glob("trace-*.jsonl")) for trace in read_file(path, texts)
    ]
    in_time = sorted(read, key=lambda trace: (starts.get(trace.pid, 0), trace.pid))
    first = {trace.rank: trace for trace in reversed(in_time)}
    repeated = [trace for trace in in_time if first[trace.rank] is not trace]
    beyond = max(first, default=0) + 1
    traces = [*first.values(), *(dataclasses.replace(trace, rank=beyond + at) for at, trace in enumerate(repeated))]
    return tuple(sorted(traces, key=lambda trace: trace.rank))


def kept_arrays(attempt: Path) -> "dict[tuple[int, int], npt.NDArray[Any]]":
    """Stored arrays of the given records, by rank and step; damaged files are skipped.

    Raises:
        RecordError: as `read_traces`.
    """
    from deviate.records import names_in, read_array

    ranks = {trace.pid: trace.rank for trace in reversed(read_traces(attempt))}
    arrays: dict[tuple[int, int], npt.NDArray[Any]] = {}
    for path in sorted(artifacts_folder(attempt).glob("kept-*-*.npz")):
        match = re.fullmatch(r"kept-([0-9a-f]+)-\d+\.npz", path.name)
        rank = ranks.get(int(match[1], 16)) if match else None
        if rank is None:
            continue
        try:
            steps = {
                name: int(name.removeprefix("step-")) for name in names_in(path) if re.fullmatch(r"step-\d+", name)
            }
            arrays |= {(rank, step): read_array(path, name) for name, step in steps.items()}
        except RecordError:
            continue
    return arrays


def _starts(attempt: Path) -> dict[int, int]:
    """Start time of each process in microseconds, as used in the names of event files."""
    starts: dict[int, int] = {}
    for path in event_files(attempt):
        if match := re.match(r"events-(\d+)-([0-9a-f]+)", path.name):
            starts.setdefault(int(match[1]), int(match[2], 16))
    return starts
