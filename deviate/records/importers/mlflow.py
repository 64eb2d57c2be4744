"""Importer `mlflow`: the stores of MLflow, folders (`mlruns`) or SQLite (`mlflow.db`), read without MLflow.

Each experiment of a store is an experiment. Steps are those that the script gave; MLflow writes 0 where it gave none,
so a metric that is at step 0 throughout is a score, or numbered in the order of logging. Parameters (`param.…`) are the
environment of a run, without secrets; metrics of the machine (`system/…`) are not read. FINISHED is completed, FAILED
crashed, KILLED cancelled; RUNNING and SCHEDULED, which a killed process leaves too, count as lost. Left out, and told:
deleted runs and experiments, and parents of other runs that have no metrics of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from deviate.errors import InputError
from deviate.model import Status
from deviate.records.importers.mlflow_store import (
    Group,
    Stored,
    is_database,
    is_folders,
    read_database,
    read_folders,
)
from deviate.records.importers.registry import Imported, ImportedRun, importer
from deviate.records.importers.tracked import OPEN_ENDED, as_series, list_names, note_on, settings

DATABASE = "mlflow.db"
MACHINE = "system/"
STATUS: Mapping[str, Status] = {"FINISHED": "completed", "FAILED": "crashed", "KILLED": "cancelled"}
FACTS = {"mlflow.source.git.commit": "git_commit", "mlflow.source.name": "source"}
PARENT = "mlflow.parentRunId"


def _claims(path: Path) -> bool:
    return is_database(path) if path.is_file() else is_folders(path) or is_database(path / DATABASE)


@importer("mlflow", description="MLflow: mlruns, or mlflow.db", claims=_claims, rank=20)
def read_mlflow(path: Path) -> tuple[Imported, ...]:
    """The experiments of a store that have runs; also of the folder of one experiment or run.

    Raises:
        InputError: there is none, or a file is damaged.
    """
    if path.is_dir() and is_folders(path):
        groups = read_folders(path)
    else:
        groups = read_database(path / DATABASE if path.is_dir() else path)
    deleted = [group.name for group in groups if group.is_deleted]
    experiments = [
        experiment
        for group in groups
        if not group.is_deleted and (experiment := _to_imported(group, path, deleted)) is not None
    ]
    if not experiments:
        raise InputError(
            f"{path} holds no runs of MLflow with metrics", "name the folder mlruns, or the file mlflow.db"
        )
    return tuple(experiments)


def _to_imported(group: Group, path: Path, deleted: Sequence[str]) -> Imported | None:
    """Convert one experiment of the store; None if none of its runs logged anything."""
    for run in group.runs:
        run.trails = {name: trail for name, trail in run.trails.items() if not name.startswith(MACHINE) and trail.steps}
    parents = {run.tags[PARENT] for run in group.runs if PARENT in run.tags}
    logged_runs = [run for run in group.runs if not run.is_deleted and (run.trails or run.id not in parents)]
    logged_runs.sort(key=lambda run: (run.started, run.id))
    if not any(run.trails for run in logged_runs):
        return None
    series, notes = as_series([run.trails for run in logged_runs], [_start(run) for run in logged_runs])
    labels = [run.label for run in logged_runs]
    runs = []
    for run, label, its in zip(logged_runs, labels, series, strict=True):
        params, seeds = settings(run.params)
        facts = {fact: run.tags[tag] for tag, fact in FACTS.items() if tag in run.tags}
        runs.append(
            ImportedRun(
                label if labels.count(label) == 1 else f"{label} ({run.id})",
                its,
                STATUS.get(run.state, "lost"),
                _start(run),
                max(0.0, (run.ended or _last_time(run)) - _start(run)),
                {**facts, **{f"param.{name}": value for name, value in params.items()}},
                seeds,
            )
        )
    all_notes = (*_notes(group, logged_runs, deleted), *notes)
    return Imported(group.name, "mlflow", (path,), tuple(runs), notes=all_notes)


def _notes(group: Group, runs: Sequence[Stored], deleted: Sequence[str]) -> Iterator[str]:
    yield from note_on((run.label for run in runs if run.state not in STATUS), OPEN_ENDED)
    for run in runs:
        if run.torn:
            yield f"{run.label}: the last line of {list_names(run.torn)} is not whole, left out"
    yield from note_on((run.label for run in group.runs if run.is_deleted), "deleted in MLflow, left out")
    parents = (run.label for run in group.runs if run not in runs and not run.is_deleted)
    yield from note_on(parents, "parent of other runs without metrics of its own, left out")
    if deleted:
        yield f"deleted experiments in the store are left out: {list_names(deleted)}"


def _start(run: Stored) -> float:
    return run.started or min((trail.times[0] for trail in run.trails.values()), default=0.0)


def _last_time(run: Stored) -> float:
    return max((trail.times[-1] for trail in run.trails.values()), default=_start(run))
