"""Importer `json`: scores as lists, as lists by metric, and as records (also one per line).

`[0.91, 0.92]`, `{"acc": [0.91, 0.92]}`, `{"baseline": {"acc": […]}, "mine": {"acc": […]}}`,
`[{"seed": 0, "acc": 0.91}]`. Records are read as the rows of a table are.
"""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from deviate.errors import InputError
from deviate.records.importers import Imported, importer
from deviate.records.importers.assemble import assemble
from deviate.records.importers.tables import CellTable, number, read_text

ENDINGS = frozenset({".json", ".jsonl", ".ndjson"})
FORMS = "a list of numbers, lists of numbers by metric, or a list of records such as {seed, metric, value}"
Records = Sequence[Mapping[str, Any]]


def _claims(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and path.is_file()


@importer("json", claims=_claims)
def read_json(path: Path) -> tuple[Imported, ...]:
    """Read the experiments in one file. Raises InputError where it is damaged, or holds no scores."""
    text = read_text(path)
    try:
        document = _parse(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid JSON: {str(error)[:200]}", "write it again, or export CSV") from error
    if isinstance(document, dict) and "deviate" in document and isinstance(document.get("experiments"), list):
        raise InputError(f"{path} is a report of deviate", "import its scores as CSV: deviate report NAME --csv FILE")
    experiments = _records_by_experiment(document)
    if not experiments:
        raise InputError(f"{path} holds no scores in a known form", f"write {FORMS}")
    return tuple(
        replace(imported, name=name or imported.name)
        for name, records in experiments.items()
        for imported in assemble(_table(records), path, "json")
    )


def _parse(text: str) -> Any:
    """Parse one JSON document, or one per line."""
    try:
        return json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].lstrip().startswith("{"):
            raise
        return [json.loads(line) for line in lines]


def _records_by_experiment(document: object) -> dict[str, Records]:
    """The records of each experiment by its name, which is empty where the document has none; empty for no scores."""
    if _is_records(document):
        return {"": document}  # type: ignore[dict-item]
    if _is_scores(document):
        return {"": _side_by_side({"value": document})}
    if not isinstance(document, dict):
        return {}
    record_lists = [entry for entry in document.values() if _is_records(entry)]
    if len(record_lists) == 1:
        return {"": record_lists[0]}
    if any(map(_is_scores, document.values())):
        return {"": _side_by_side(document)}
    inner = {name: entries for name, entries in document.items() if isinstance(entries, dict)}
    if any(_is_scores(value) for entries in inner.values() for value in entries.values()):
        return {name: records for name, entries in inner.items() if (records := _side_by_side(entries))}
    scores = {name: value for name, value in document.items() if _is_score(value)}
    return {"": [scores]} if scores else {}


def _is_records(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _is_score(value: object) -> bool:
    if isinstance(value, str):
        return number(value) is not None
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _is_scores(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_score, value))


def _side_by_side(entries: Mapping[str, Any]) -> Records:
    """Lists of scores by metric as records; other entries are left out."""
    lists = {name: values for name, values in entries.items() if _is_scores(values)}
    return [dict(zip(lists, row, strict=True)) for row in itertools.zip_longest(*lists.values())]


def _table(records: Records) -> CellTable:
    flat = [_flat(record) for record in records]
    names = list(dict.fromkeys(itertools.chain.from_iterable(flat)))
    return CellTable({name: [row.get(name, "") for row in flat] for name in names}, len(flat))


def _flat(record: Mapping[str, Any]) -> dict[str, str]:
    """Flatten nested mappings; inner keys get the outer key as a prefix where they would collide."""
    cells: dict[str, str] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            for inner, cell in _flat(value).items():
                cells[inner if inner not in cells and inner not in record else f"{name}/{inner}"] = cell
        elif not isinstance(value, list):
            cells[str(name)] = "" if value is None else str(value)
    return cells
