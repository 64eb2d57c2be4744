"""Traces made by hand, as values and as the files that a guest leaves."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from deviate.diverge.findings import CodeLine
from deviate.diverge.traces import NONE, Records, Trace, TraceRecord

STEP: tuple[tuple[str, str], ...] = (
    ("state", "torch"),
    ("batch", "input"),
    ("batch", "target"),
    ("operation", "aten.mm.default"),
    ("module", "layers.0"),
    ("operation", "aten.mm.default"),
    ("module", "layers.1"),
    ("forward", "output"),
    ("loss", "loss"),
    ("module-gradient", "layers.1"),
    ("module-gradient", "layers.0"),
    ("gradient", "layers.0.weight"),
    ("gradient", "layers.1.weight"),
    ("operation", "aten._foreach_add_.List"),
    ("update", "layers.0.weight"),
    ("update", "layers.1.weight"),
)
"""What a step of a small network records."""


def a_record(
    step: int = 0, kind: str = "module", name: str = "a", digest: int | None = 1, **rest: object
) -> TraceRecord:
    more = {key: rest.pop(key) for key in tuple(rest) if key not in {"ordinal", "form", "place", "main_step"}}
    return TraceRecord(step, step, kind, name, digest=digest, more=more, **{"ordinal": 0, "form": "float32[4]", **rest})  # type: ignore[arg-type]


def columns(records: Iterable[TraceRecord]) -> Records:
    columns = Records()
    for record in records:
        head = columns.number_of((record.kind, record.name, record.form, record.place))
        main_step = NONE if record.main_step is None else record.main_step
        columns.add(record.step, main_step, head, record.ordinal, record.digest, columns.number_of_more(record.more))
    return columns


def a_trace(records: Iterable[TraceRecord], *, rank: int = 0, n_steps: int | None = None, **rest: object) -> Trace:
    """A trace whose ordinals are what they are in such an order."""
    counts: dict[tuple[int, str, str], int] = {}
    counted = []
    for it in records:
        key = (it.step, it.kind, it.name)
        counted.append(replace(it, ordinal=counts.get(key, 0)))
        counts[key] = counts.get(key, 0) + 1
    n = n_steps if n_steps is not None else max((it.step for it in counted), default=-1) + 1
    return Trace(rank, 4, 0, None, columns(counted), n, **rest)  # type: ignore[arg-type]


def steps(n: int, kinds: Sequence[tuple[str, str]] = STEP) -> list[TraceRecord]:
    """Records of n steps, each with a digest of its own and a line of the program."""
    return [
        a_record(step, kind, name, 1 + at + len(kinds) * step, place=CodeLine("train.py", 10 + at))
        for step in range(n)
        for at, (kind, name) in enumerate(kinds)
    ]


def start_line(rank: int = 0, pid: int = 1, level: int = 4, until: int | None = None) -> str:
    return json.dumps(["start", 1, {"rank": rank, "pid": pid, "level": level, "from": 0, "until": until}]) + "\n"


def lines_of(trace: Trace) -> list[str]:
    """The lines of a trace file, after its start."""
    lines: list[list[object]] = []
    places: dict[CodeLine, int] = {}
    step, main_step = 0, None
    for it in trace.records:
        while step < it.step:
            step += 1
            lines.append(["step", step, step * 0.5])
        if it.main_step != main_step:
            main_step = it.main_step
            lines.append(["main", main_step])
        if it.place is not None and it.place not in places:
            places[it.place] = len(places)
            lines.append(["place", places[it.place], it.place.file, it.place.line])
        place = -1 if it.place is None else places[it.place]
        lines.append([it.kind, it.name, it.digest, it.form, place, it.more])
    while step < trace.n_steps:
        step += 1
        lines.append(["step", step, step * 0.5])
    if trace.is_whole:
        lines.append(["end", step, step * 0.5])
    return [json.dumps(line) + "\n" for line in lines]


def write_trace(attempt: Path, trace: Trace, *, pid: int = 1) -> Path:
    """The file that the guest would have left of a process."""
    path = attempt / "artifacts" / f"trace-{pid:x}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(start_line(trace.rank, pid, trace.level, trace.until) + "".join(lines_of(trace)))
    return path
