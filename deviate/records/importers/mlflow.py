"""Importer `mlflow`: the stores of MLflow, folders (`mlruns`) or SQLite (`mlflow.db`), read without MLflow.

Each experiment of a store is an experiment. Steps are those that the script gave; MLflow writes 0 where it gave none,
so a metric that is at step 0 throughout is a score, or numbered in the order of logging. Parameters (`param.…`) are the
environment of a run, without secrets; metrics of the machine (`system/…`) are not read. FINISHED is completed, FAILED
crashed, KILLED cancelled; RUNNING and SCHEDULED, which a killed process leaves too, count as lost. Left out, and told:
deleted runs and experiments, and parents of other runs that have no metrics of their own.

Source: FileStore and SqlAlchemyStore of MLflow 3.17; what is read here is the same since 1.0.
"""

import contextlib
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deviate.errors import InputError
from deviate.model import Status
from deviate.records.importers import Imported, importer
from deviate.records.importers.tracked import OPEN_ENDED, TrackedRun, Trail, imported_runs, list_names, note_on

if TYPE_CHECKING:
    import sqlite3

META = "meta.yaml"
STATES: Mapping[str, Status] = {
    "FINISHED": "completed", "FAILED": "crashed", "KILLED": "cancelled",
    "3": "completed", "4": "crashed", "5": "cancelled",
}  # fmt: skip
"""Status of a run by its state; folders have their numbers. In any other state it is lost."""
SQLITE = b"SQLite format 3\0"
TABLES = {"experiments", "runs", "metrics", "params", "tags"}
CURE = "restore it, or move it away to go on without it"
KEY = re.compile(r"([A-Za-z_]\w*):(?: (.*))?$")
ESCAPE = re.compile(r"\\(x..|u.{4}|U.{8}|.)", re.DOTALL)


@dataclass(slots=True)
class Stored(TrackedRun):
    """A run in an MLflow store.

    Attributes:
        ended: seconds since the epoch, 0 where that is not known.
        torn: metrics whose last line is not whole.
    """

    is_deleted: bool = False
    ended: float = 0.0
    tags: dict[str, str] = field(default_factory=dict)
    torn: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """An experiment in an MLflow store."""

    name: str
    is_deleted: bool = False
    runs: list[Stored] = field(default_factory=list)


def is_folders(path: Path) -> bool:
    """Whether a folder is a store, an experiment of one, or a run of one."""
    if (path / META).is_file():
        return (path / "metrics").is_dir() or (path / "params").is_dir() or "experiment_id" in _first_lines(path / META)
    return any("experiment_id" in _first_lines(meta) for meta in path.glob(f"*/{META}"))


def is_database(path: Path) -> bool:
    """Whether a file is a data base with the tables of MLflow."""
    try:
        import sqlite3  # the sqlite3 module is missing in some builds of Python
    except ImportError:
        return False
    try:
        with path.open("rb") as file:
            if file.read(len(SQLITE)) != SQLITE:
                return False
        with contextlib.closing(_open_database(path)) as base:
            return {name for (name,) in base.execute("SELECT name FROM sqlite_master")} >= TABLES
    except (OSError, sqlite3.Error):
        return False


def _first_lines(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(2_000)
    except OSError:
        return ""


def read_folders(path: Path) -> list[Group]:
    """The experiments of a folder store, of one experiment's folder, or of one run's.

    Raises:
        InputError: a file is damaged or cannot be read.
    """
    try:
        if not (path / META).is_file():
            folders = sorted(meta.parent for meta in path.glob(f"*/{META}"))
            return [_experiment(folder, sorted(meta.parent for meta in folder.glob(f"*/{META}"))) for folder in folders]
        if not _is_run(path):
            return [_experiment(path, sorted(meta.parent for meta in path.glob(f"*/{META}")))]
        return [_experiment(path.parent, [path])]
    except OSError as error:
        raise InputError(f"reading {error.filename or path}: {error.strerror or error}") from error


def _is_run(folder: Path) -> bool:
    return bool({"run_id", "run_uuid"} & _meta(folder / META).keys())


def _experiment(folder: Path, runs: list[Path]) -> Group:
    meta = _meta(folder / META) if (folder / META).is_file() else {}
    return Group(
        meta.get("name") or folder.resolve().name,
        meta.get("lifecycle_stage") == "deleted",
        [_run(run) for run in runs if _is_run(run)],  # models are logged beside the runs since MLflow 3
    )


def _run(folder: Path) -> Stored:
    meta = _meta(folder / META)
    tags = _texts(folder / "tags")
    run = Stored(
        meta.get("run_id") or meta.get("run_uuid") or folder.name,
        meta.get("run_name") or tags.get("mlflow.runName", ""),
        STATES.get(meta.get("status", ""), "lost"),
        _seconds(meta.get("start_time")),
        is_deleted=meta.get("lifecycle_stage") == "deleted",
        ended=_seconds(meta.get("end_time")),
        params=_texts(folder / "params"),
        tags=tags,
    )
    for path in _files(folder / "metrics"):
        name = path.relative_to(folder / "metrics").as_posix()
        trail = run.trails[name] = Trail()
        text = path.read_text(encoding="utf-8", errors="replace")
        whole, _, broken = text.rpartition("\n")
        if broken:  # a truncated number would be read as a different number
            run.torn.append(name)
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                time, value, *rest = line.split()
                trail.add(int(rest[0]) if rest else 0, float(value), int(time) / 1000)
            except ValueError as error:
                raise InputError(f"{path} is damaged in line {number}: {line[:80]!r}", CURE) from error
    return run


def _files(folder: Path) -> list[Path]:
    """Metric or parameter files below a folder; names with a slash are stored in subfolders."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def _texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in _files(folder)
    }


def _seconds(milliseconds: object) -> float:
    return int(str(milliseconds)) / 1000 if str(milliseconds).isdigit() else 0.0


def _meta(path: Path) -> dict[str, str]:
    """Parse MLflow's flat YAML: plain, 'single' and "double" quoted strings, which may continue on indented lines."""
    fields: dict[str, str] = {}
    last = ""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if match := KEY.match(line):
            last = match[1]
            fields[last] = match[2] or ""
        elif last and fields[last].endswith("\\"):  # within "…" a line that is broken before a blank
            more = line.strip()
            fields[last] = fields[last][:-1] + (more[1:] if more.startswith("\\ ") else more)
        elif last and line[:1] in {" ", ""}:
            joint = "" if fields[last].endswith("\n") else " "
            fields[last] += joint + line.strip() if line.strip() else "\n"
    if not fields:
        raise InputError(f"{path} is damaged: it has no fields", CURE)
    return {name: _plain(value.strip()) for name, value in fields.items()}


def _plain(value: str) -> str:
    if value[:1] == "'" == value[-1:] and len(value) > 1:
        return value[1:-1].replace("''", "'")
    if value[:1] == '"' == value[-1:] and len(value) > 1:
        return ESCAPE.sub(_unescape, value[1:-1])
    return "" if value in {"null", "~"} else value


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        return chr(int(code[1:], 16))
    return {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b"}.get(code, code)


def read_database(path: Path) -> list[Group]:
    """The experiments of a data base, which is not changed.

    Raises:
        InputError: it is damaged, or in use by somebody who changes it.
    """
    import sqlite3

    try:
        with contextlib.closing(_open_database(path)) as base:
            groups = {
                key: Group(name or str(key), stage == "deleted")
                for key, name, stage in base.execute("SELECT experiment_id, name, lifecycle_stage FROM experiments")
            }
            runs: dict[str, Stored] = {}
            for key, name, state, begin, end, stage, group in base.execute(
                "SELECT run_uuid, name, status, start_time, end_time, lifecycle_stage, experiment_id FROM runs "
                "ORDER BY start_time, rowid"
            ):
                run = Stored(key, name or "", STATES.get(state, "lost"), _seconds(begin))
                run.is_deleted, run.ended = stage == "deleted", _seconds(end)
                runs[key] = run
                groups.setdefault(group, Group(str(group))).runs.append(run)
            for key, name, value in base.execute("SELECT run_uuid, key, value FROM params"):
                runs[key].params[name] = str(value)
            for key, name, value in base.execute("SELECT run_uuid, key, value FROM tags"):
                runs[key].tags[name] = str(value)
            for key, name, value, time, step, is_nan in base.execute(
                "SELECT run_uuid, key, value, timestamp, step, is_nan FROM metrics ORDER BY rowid"
            ):
                runs[key].trails.setdefault(name, Trail()).add(
                    step, math.nan if is_nan else real_number(value), time / 1000
                )
    except (sqlite3.Error, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"reading the MLflow database {path}: {error}",
            "check that it is complete, and that no process writes to it",
        ) from error
    for run in runs.values():
        run.name = run.name or run.tags.get("mlflow.runName", "")
    return list(groups.values())


def _open_database(path: Path) -> "sqlite3.Connection":
    import sqlite3

    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def real_number(value: float) -> float:
    """A metric value, of which MLflow stores infinity as the largest float."""
    return math.copysign(math.inf, value) if abs(value) >= sys.float_info.max else float(value)


DATABASE = "mlflow.db"
MACHINE = "system/"
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
        raise InputError(f"{path} holds no MLflow runs with metrics", "name the folder mlruns, or the file mlflow.db")
    return tuple(experiments)


def _to_imported(group: Group, path: Path, deleted: Sequence[str]) -> Imported | None:
    """Convert one experiment of the store; None if none of its runs logged anything."""
    logged_runs = runs_to_read(group)
    if not any(run.trails for run in logged_runs):
        return None
    runs, notes = imported_runs(logged_runs, [run.started for run in logged_runs], "param.")
    return Imported(group.name, "mlflow", (path,), runs, notes=(*_notes(group, logged_runs, deleted), *notes))


def runs_to_read(group: Group) -> list[Stored]:
    """The runs of an experiment by start, without deleted ones and parents that have no metrics of their own."""
    for run in group.runs:
        run.trails = {name: trail for name, trail in run.trails.items() if not name.startswith(MACHINE) and trail.steps}
    parents = {run.tags[PARENT] for run in group.runs if PARENT in run.tags}
    logged_runs = [run for run in group.runs if not run.is_deleted and (run.trails or run.id not in parents)]
    logged_runs.sort(key=lambda run: (run.started, run.id))
    for run in logged_runs:
        run.started = run.started or min((trail.times[0] for trail in run.trails.values()), default=0.0)
        last = max((trail.times[-1] for trail in run.trails.values()), default=run.started)
        run.wall_time_s = max(0.0, (run.ended or last) - run.started)
        run.facts = {fact: run.tags[tag] for tag, fact in FACTS.items() if tag in run.tags}
    return logged_runs


def _notes(group: Group, runs: Sequence[Stored], deleted: Sequence[str]) -> Iterator[str]:
    yield from note_on((run.label for run in runs if run.status == "lost"), OPEN_ENDED)
    for run in runs:
        if run.torn:
            yield f"{run.label}: the last line of {list_names(run.torn)} is incomplete, left out"
    yield from note_on((run.label for run in group.runs if run.is_deleted), "deleted in MLflow, left out")
    parents = (run.label for run in group.runs if run not in runs and not run.is_deleted)
    yield from note_on(parents, "parent run without metrics, left out")
    if deleted:
        yield f"deleted experiments in the store are left out: {list_names(deleted)}"
