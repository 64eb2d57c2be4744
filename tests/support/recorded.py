"""Factories for records: a plan, a manifest and events as the guest leaves them."""

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from deviate import eventlog
from deviate.base.digests import with_digest
from deviate.eventlog import encode, number_text
from deviate.model.analysis import Metric, Place, Site, Span
from deviate.model.plan import SelectedMetric, Selection
from deviate.records.files import to_builtins
from deviate.records.plans import Plan, VariantPlan
from deviate.records.schema import SCHEMA


def make_metric(
    name: str,
    *,
    number: int = 0,
    site: int | None = 0,
    path: tuple[Place, ...] = (),
    label: str | None = None,
    expression: str = "acc",
) -> Metric:
    return Metric(number, name, expression, "train.py", 9, "print", "quality", "max", (), site, path, label)


def select(*metrics: Metric) -> Selection:
    return Selection(tuple(SelectedMetric(metric.name, metric, metric.role, metric.direction) for metric in metrics))


def write_manifest(
    snapshot: Path, metrics: Sequence[Metric] = (), *, main_loop: int | None = 0, label: str | None = None
) -> None:
    snapshot.mkdir(parents=True, exist_ok=True)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "root": "/project",
        "sources_hash": "0" * 64,
        "main_loop": main_loop,
        "files": {},
        "linked_folders": {},
        "sites": [
            Site(number, "train.py", 9 + number, Span(9, 0, 9, 3), "acc", "print", label=label) for number in range(3)
        ],
        "metrics": [dataclasses.asdict(metric) for metric in metrics],
        "warnings": [],
    }
    (snapshot / "manifest.json").write_text(json.dumps(with_digest(to_builtins(document))))


def make_plan(*, name: str = "base", runs: int = 2, selection: Selection | None = None, variant: str = "as-is") -> Plan:
    return Plan(
        name=name,
        created=1.0,
        root=Path("/project"),
        command=("python", "train.py"),
        cwd=".",
        seed=0,
        sources_hash="0" * 64,
        variants=(VariantPlan(variant, runs),),
        selection=select(make_metric("acc")) if selection is None else selection,
    )


def edit_record(path: Path, **fields: Any) -> None:
    """Give fields of a JSON file of a record other values, as if they had been written so."""
    path.write_text(json.dumps(with_digest({**json.loads(path.read_text()), **fields})))


def events_of(attempt: Path) -> list[list[Any]]:
    """All events of an attempt: the name of the kind of each, and its fields."""
    lines = [line for path in sorted(attempt.glob("events-*")) for line in path.read_text().splitlines()]
    return [[eventlog.fields_of(line)[0], *eventlog.decode(line)] for line in lines]


def start(*, pid: int = 1, rank: int | None = None, at: float | None = None) -> str:
    facts = {"pid": pid, "ppid": 0, "rank": rank, "time": time.time() if at is None else at}
    return encode("start", eventlog.SCHEMA, facts) + encode("path", 0, [])


def value_line(
    site: int, number: float, *, way: int = 0, loops: tuple[int, ...] = (), label: str | None = None, at: float = 0.1
) -> str:
    tail = "" if label is None else f", {json.dumps(label)}"
    return f"[{site}, {way}, {list(loops)}, {at}, {number_text(number)}{tail}]\n"
