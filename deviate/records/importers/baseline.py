"""Importer `baseline`: the small file, written by `deviate check --save`, that a project commits as its baseline.

Each score is on its own line, so that a change shows in code review; floats are stored exactly; the file does not
depend on when it was saved.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
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
# 2026-11-22  1  first format.
# 2026-11-23  1  streams, scores; left out at 1, so that older versions read all that they can judge.

FORMAT = "deviate baseline"
MARK = re.compile(rf'^\s*\{{\s*"format":\s*"{FORMAT}"')


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """One run: its scores by metric (one without a score lacks it), and the seeds by which it finds its partner."""

    replicate: int
    status: Status
    seeds: Mapping[str, int]
    scores: Mapping[str, float]


class Baseline(Struct, kw_only=True, omit_defaults=True):
    """What is kept of an experiment to be compared with later: the file without its first two fields.

    Attributes:
        name, variant, command: of the experiment.
        deviate: version that ran it. date: the day in UTC, as 2026-11-22; empty where it is not known.
        commit: of the project, empty where it was in no git; is_dirty: whether files differed from it.
        streams, scores: as in `Experiment`; None where deviate did not run it.
        environment: facts that bear on scores: interpreter, frameworks, devices, threads.
        metrics: by name.
    """

    deviate: str
    name: str
    variant: str
    date: str
    command: tuple[str, ...]
    commit: str
    is_dirty: bool
    streams: int | None = 1
    scores: int | None = 1
    environment: dict[str, str]
    metrics: dict[str, MetricEntry]
    runs: tuple[BaselineRun, ...]


def baseline_text(baseline: Baseline) -> str:
    """Contents of the file: metrics in alphabetical order, runs by replicate; equal baselines give equal bytes."""
    document = {"format": FORMAT, "schema": SCHEMA, **to_builtins(baseline)}
    del document["runs"]
    environment, metrics = (sorted(document.pop(name).items()) for name in ("environment", "metrics"))
    lines = [f" {_json(name)}: {_json(value)}" for name, value in document.items()]
    lines.append(f' "environment": {_lines((f"{_json(name)}: {_json(text)}" for name, text in environment), "{}", 2)}')
    lines.append(f' "metrics": {_lines((f"{_json(name)}: {_json(entry)}" for name, entry in metrics), "{}", 2)}')
    runs = sorted(baseline.runs, key=lambda run: run.replicate)
    lines.append(f' "runs": {_lines(map(_run_text, runs), "[]", 2)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _run_text(run: BaselineRun) -> str:
    scores = (f"{_json(name)}: {_json(float(value))}" for name, value in sorted(run.scores.items()))
    start = f'{{"replicate": {run.replicate}, "status": {_json(run.status)}'
    return f'{start}, "seeds": {_json(dict(sorted(run.seeds.items())))},\n   "scores": {_lines(scores, "{}", 4)}}}'


def _lines(items: Iterator[str], brackets: str, indent: int) -> str:
    """Items between a pair of brackets, one per line."""
    texts = list(items)
    if not texts:
        return brackets
    space = "\n" + " " * indent
    return f"{brackets[0]}{space}{f',{space}'.join(texts)}\n{' ' * (indent - 1)}{brackets[1]}"


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=True)


def _claims(path: Path) -> bool:
    return path.is_file() and MARK.match(head(path)) is not None


@importer("baseline", description="a baseline saved by deviate check --save (.json)", claims=_claims, rank=50)
def read_baseline(path: Path) -> tuple[Imported, ...]:
    """Read a saved baseline.

    Raises:
        InputError: it is damaged, or a newer deviate wrote it.
    """
    baseline = load_baseline(path)
    where = (
        f" at commit {baseline.commit[:12]}{', with changes' if baseline.is_dirty else ''}" if baseline.commit else ""
    )
    provenance = " ".join(filter(None, (baseline.date and f"of {baseline.date}", f"by deviate {baseline.deviate}")))
    return (
        Imported(
            name=f"{baseline.name}-baseline",
            form="baseline",
            sources=(path,),
            runs=tuple(_to_imported_run(run, baseline) for run in baseline.runs),
            notes=(f"{path.name}: the scores of {len(baseline.runs)} runs of {baseline.name}{where}, {provenance}",),
            stated=baseline.metrics,
            streams=baseline.streams,
            scores=baseline.scores,
        ),
    )


def load_baseline(path: Path) -> Baseline:
    """Convert a saved baseline file to a `Baseline`.

    Raises:
        InputError: it is damaged, or a newer deviate wrote it.
    """
    try:
        document = json.loads(read_text(path))
        number = int(document["schema"])
        if number > SCHEMA:
            raise InputError(
                f"{path} has schema {number}; this deviate reads up to {SCHEMA}",
                "update deviate, or save the baseline again",
            )
        baseline = msgspec.convert(document, Baseline)
        _refuse_margins(baseline.metrics)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path} is a damaged baseline: {in_words(error)[:200]}", "save it again with deviate check --save"
        ) from error
    return baseline


def _refuse_margins(metrics: Mapping[str, MetricEntry]) -> None:
    """Raises ValueError for a margin that is none."""
    for name, entry in metrics.items():
        if entry.margin is not None and not 0 < entry.margin < math.inf:
            raise ValueError(f"metric {name}: margin {entry.margin} is not positive")


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
