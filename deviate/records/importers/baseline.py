"""Importer `baseline`: the small file, written by `deviate check --save`, that a project commits as its baseline.

Each score is on its own line, so that a change shows in code review; floats are stored exactly; the file does not
depend on when it was saved.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from deviate.errors import InputError
from deviate.model.aggregates import AT
from deviate.model.records import Series, Status
from deviate.records.files import in_words, to_builtins
from deviate.records.importers import Imported, ImportedRun, MetricEntry, importer
from deviate.records.importers.tables import head, read_text

SCHEMA = 1
FORMAT = "deviate baseline"
MARK = re.compile(rf'^\s*\{{\s*"format":\s*"{FORMAT}"')


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """One run: its scores by metric (one without a score lacks it), and the seeds by which it finds its partner."""

    replicate: int
    status: Status
    seeds: Mapping[str, int]
    scores: Mapping[str, float]


class _Schema(Struct):
    schema: int


class Baseline(Struct, kw_only=True):
    """What is kept of an experiment to be compared with later: the file without its first two fields.

    Attributes:
        name, variant, command: of the experiment.
        deviate: version that ran it. date: the day in UTC, as 2026-11-22; empty where it is not known.
        commit: of the project, empty where it was in no git; is_dirty: whether files differed from it.
        environment: facts that bear on scores: interpreter, frameworks, devices, threads.
        metrics: by name.
        runs: by replicate.
    """

    deviate: str
    name: str
    variant: str
    date: str
    command: tuple[str, ...]
    commit: str
    is_dirty: bool
    environment: dict[str, str]
    metrics: dict[str, MetricEntry]
    runs: tuple[BaselineRun, ...]


def baseline_text(baseline: Baseline) -> str:
    """Contents of the file, which are equal bytes for equal baselines."""
    document = {"format": FORMAT, "schema": SCHEMA, **to_builtins(baseline, order="deterministic")}
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def _claims(path: Path) -> bool:
    return path.is_file() and MARK.match(head(path)) is not None


@importer("baseline", claims=_claims, rank=50)
def read_baseline(path: Path) -> tuple[Imported, ...]:
    """Read a saved baseline.

    Raises:
        InputError: it is damaged, or a newer deviate wrote it.
    """
    baseline = load_baseline(path)
    commit = f"commit {baseline.commit[:12]}{', with changes' if baseline.is_dirty else ''}" if baseline.commit else ""
    origin = ", ".join(filter(None, (baseline.name, baseline.date, commit, f"deviate {baseline.deviate}")))
    return (
        Imported(
            name=f"{baseline.name}-baseline",
            form="baseline",
            sources=(path,),
            runs=tuple(_to_imported_run(run, baseline) for run in baseline.runs),
            notes=(f"{path.name}: the scores of {len(baseline.runs)} runs of {origin}",),
            stated=baseline.metrics,
        ),
    )


def load_baseline(path: Path) -> Baseline:
    """Convert a saved baseline file to a `Baseline`.

    Raises:
        InputError: it is damaged, or a newer deviate wrote it.
    """
    text = read_text(path)
    try:
        number = msgspec.json.decode(text, type=_Schema).schema
        if number > SCHEMA:
            raise InputError(
                f"{path} has schema {number}; this deviate reads up to {SCHEMA}",
                "update deviate, or save the baseline again",
            )
        return msgspec.json.decode(text, type=Baseline)
    except msgspec.DecodeError as error:
        raise InputError(
            f"{path} is a damaged baseline: {in_words(error)[:200]}", "save it again with deviate check --save"
        ) from error


def _to_imported_run(run: BaselineRun, baseline: Baseline) -> ImportedRun:
    aggregates = {name: entry.aggregate for name, entry in baseline.metrics.items() if name in run.scores}
    return ImportedRun(
        label=f"replicate {run.replicate}",
        # A score is its own last, best and mean; as the value at a step it has to stand at that step.
        series={name: Series((_step(aggregate),), (run.scores[name],)) for name, aggregate in aggregates.items()},
        status=run.status,
        environment=dict(baseline.environment),
        seeds=dict(run.seeds),
    )


def _step(aggregate: str) -> int | None:
    return int(aggregate.removeprefix(AT)) if aggregate.startswith(AT) else None
