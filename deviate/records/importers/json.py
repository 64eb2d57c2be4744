"""Importer `json`: scores as lists, as lists by metric, as records (also one per line), and our own `--json` reports.

`[0.91, 0.92]`, `{"acc": [0.91, 0.92]}`, `{"baseline": {"acc": […]}, "mine": {"acc": […]}}`,
`{"seed 0": {"acc": 0.91}}`, `[{"seed": 0, "acc": 0.91}]`. Records are read as the rows of a table are.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec

from deviate.errors import InputError
from deviate.model.records import Series, Status
from deviate.records.importers import Imported, ImportedRun, MetricEntry, importer
from deviate.records.importers.assemble import assemble
from deviate.records.importers.tables import Table, number, read_text

ENDINGS = frozenset({".json", ".jsonl", ".ndjson"})
FORMS = "a list of numbers, lists of numbers by metric, or a list of records such as {seed, metric, value}"
Shape = tuple[Imported, ...]


def _claims(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and path.is_file()


@importer("json", description="lists of scores, records, or a --json report of deviate (.json .jsonl)", claims=_claims)
def read_json(path: Path) -> tuple[Imported, ...]:
    """Read the experiments in one file. Raises InputError where it is damaged, or holds no scores."""
    text = read_text(path)
    try:
        document = _parse(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid JSON: {str(error)[:200]}", "write it again, or export CSV") from error
    if isinstance(document, dict) and "deviate" in document and isinstance(document.get("experiments"), list):
        return _read_report(document, path)
    if isinstance(document, dict):
        record_lists = [entry for entry in document.values() if _is_records(entry)]
        document = record_lists[0] if len(record_lists) == 1 else document
    if _is_records(document):
        return assemble(_records(document), path, "json", kind="records")
    if isinstance(document, list) and document and all(_is_score(entry) for entry in document):
        columns = {"value": [_cell(entry) for entry in document]}
        return assemble(Table(columns, len(document), has_header=False), path, "json", kind="a list of scores")
    if isinstance(document, dict) and (experiments := _read_mapping(document, path)):
        return experiments
    raise InputError(f"{path} holds no scores in a known form", f"write {FORMS}")


def _parse(text: str) -> Any:
    """Parse one JSON document, or one per line."""
    try:
        return json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
            raise
        return [json.loads(line) for line in lines]


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _is_score(value: object) -> bool:
    if isinstance(value, str):
        return number(value) is not None
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _is_scores(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_score(item) for item in value)


def _cell(value: object) -> str:
    """Convert a value to a table cell without losing precision."""
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _records(records: Sequence[Mapping[str, Any]]) -> Table:
    flat = [_flat(record) for record in records]
    names = list(dict.fromkeys(itertools.chain.from_iterable(flat)))
    return Table({name: [row.get(name, "") for row in flat] for name in names}, len(flat))


def _flat(record: Mapping[str, Any]) -> dict[str, str]:
    """Flatten nested mappings; inner keys get the outer key as a prefix where they would collide."""
    cells: dict[str, str] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            for inner, cell in _flat(value).items():
                cells[inner if inner not in cells and inner not in record else f"{name}/{inner}"] = cell
        elif not isinstance(value, list):
            cells[str(name)] = _cell(value)
    return cells


def _read_mapping(document: dict[str, Any], path: Path) -> Shape | None:
    scores = {name: values for name, values in document.items() if _is_scores(values)}
    if scores:
        return assemble(_side_by_side(scores), path, "json", kind="lists by metric")
    inner = {name: entries for name, entries in document.items() if isinstance(entries, dict)}
    by_experiment = {name: entries for name, entries in inner.items() if any(map(_is_scores, entries.values()))}
    if by_experiment:
        return tuple(
            Imported(name, "json", (path,), each.runs, notes=(f"{path.name}: {name}: lists by metric", *each.notes))
            for name, runs in by_experiment.items()
            for each in assemble(
                _side_by_side({metric: scores for metric, scores in runs.items() if _is_scores(scores)}), path, "json"
            )
        )
    by_run = {name: entries for name, entries in inner.items() if any(_is_score(value) for value in entries.values())}
    if by_run:
        return assemble(_records([{"run": name, **run} for name, run in by_run.items()]), path, "json", kind="by run")
    flat = {name: score for name, score in document.items() if _is_score(score)}
    return assemble(_records([flat]), path, "json", kind="one run") if flat else None


def _side_by_side(scores: Mapping[str, Sequence[Any]]) -> Table:
    n_rows = max(map(len, scores.values()))
    columns = {name: [*map(_cell, values), *[""] * (n_rows - len(values))] for name, values in scores.items()}
    return Table(columns, n_rows)


def _read_report(document: dict[str, Any], path: Path) -> Shape:
    """Scores and outcomes of a report by deviate; reports have no measurements by step."""
    try:
        entries = document["experiments"]
        several = len({entry["name"] for entry in entries}) < len(entries)
        return tuple(
            Imported(
                name=f"{entry['name']}-{entry['variant']}" if several else str(entry["name"]),
                form="json",
                sources=(path,),
                runs=_to_imported_runs(entry["runs"], entry["metrics"]),
                tasks=tuple(map(str, entry.get("tasks", []))),
                notes=(
                    f"{path.name}: a report of deviate: the scores of {len(entry['runs'])} runs, without their curves",
                ),
                stated={metric["metric"]: _stated(metric) for metric in entry["metrics"] if "role" in metric},
            )
            for entry in entries
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is a damaged report of deviate: {error!r}", "write it again with --json") from error


def _stated(metric: Mapping[str, Any]) -> MetricEntry:
    """Role and direction of a metric, where the user may have said other than its name suggests."""
    stated = {"aggregate": "last", "margin": None, "primary": False, "unit": ""}
    return msgspec.convert({**stated, "role": metric["role"], "direction": metric["direction"]}, MetricEntry)


def _to_imported_runs(
    runs: Sequence[Mapping[str, Any]], metrics: Sequence[Mapping[str, Any]]
) -> tuple[ImportedRun, ...]:
    scores: dict[int, dict[str, Series]] = {}
    for metric in metrics:
        for score in metric["scores"]:
            its = scores.setdefault(score["replicate"], {})
            its[str(metric["metric"])] = Series((None,), (float(score["score"]),))
    statuses: dict[str, Status] = {status: status for status in get_args(Status)}
    return tuple(
        ImportedRun(
            label=f"replicate {run['replicate']}",
            series=scores.get(run["replicate"], {}),
            status=statuses.get(run["status"], "completed"),
            started=float(run.get("started", 0.0)),
            wall_time_s=float(run.get("wall_time_s", 0.0)),
            environment={str(name): str(value) for name, value in run.get("environment", {}).items()},
            seeds={str(name): int(seed) for name, seed in run.get("seeds", {}).items()},
        )
        for run in runs
    )
