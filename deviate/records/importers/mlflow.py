"""Importer `mlflow`: stores of MLflow: folders (`mlruns`), read without MLflow, databases by `MlflowClient`.

Each experiment of a store is an experiment. Steps are those that the script gave; MLflow writes 0 where it gave none,
so a metric that is at step 0 throughout is a score, or numbered in the order of logging. Parameters (`param.…`) are the
environment of a run, without secrets; metrics of the machine (`system/…`) are not read. FINISHED is completed, FAILED
crashed, KILLED cancelled; RUNNING and SCHEDULED, which a killed process leaves too, count as lost. Deleted runs and
experiments are not read; parents of other runs that have no metrics of their own are left out, and told.

Source: FileStore of MLflow 3.17; what is read here of its files is the same since 1.0.
"""

import contextlib
import logging
import math
import os
import sys
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deviate.base.redaction import redact
from deviate.errors import InputError
from deviate.model.records import Status
from deviate.model.texts import first_few
from deviate.records.importers import Imported, importer
from deviate.records.importers.tables import head
from deviate.records.importers.tracked import CURE, TrackedProject, TrackedRun, calling, note_on, read_settings, trained

META = "meta.yaml"
DATABASE = "mlflow.db"
STATES: Mapping[str, Status] = {
    "FINISHED": "completed", "FAILED": "crashed", "KILLED": "cancelled",
    "3": "completed", "4": "crashed", "5": "cancelled",
}  # fmt: skip
"""Status of a run by its state; folders have their numbers. In any other state it is lost."""
TABLES = {"experiments", "runs", "latest_metrics"}
MACHINE = "system/"
FACTS = {"mlflow.source.git.commit": "git_commit", "mlflow.source.name": "source"}
NAME = "mlflow.runName"
PARENT = "mlflow.parentRunId"
RUNS_PER_PAGE = 1_000
N_CONNECTIONS = 8
HINT = "check MLFLOW_TRACKING_URI; a login needs MLFLOW_TRACKING_USERNAME and _PASSWORD, or MLFLOW_TRACKING_TOKEN"
STORE = "MLFLOW_TRACKING_URI"
AGGREGATE = "deviate.experiment"
"""A tag of runs that `deviate report --to mlflow` writes."""


@dataclass(frozen=True, slots=True)
class StoredExperiment:
    """An experiment in an MLflow store.

    Attributes:
        read_runs: gives its runs without the values of their metrics.
        load_values: reads the values of a run. Both raise InputError where the store is damaged or does not answer.
    """

    id: str
    name: str
    read_runs: Callable[[], list[TrackedRun]]
    load_values: Callable[[Any], None]


def is_store(path: Path) -> bool:
    """Whether a path is a store on disk, or the folder of one experiment."""
    return _is_folder_store(path) or _is_database(path) or _is_database(path / DATABASE)


@importer("mlflow", claims=is_store, rank=20)
def read_mlflow(path: Path) -> tuple[Imported, ...]:
    """The experiments of a store that have runs; also of the folder of one experiment.

    Raises:
        InputError: there is none, a file is damaged, or the package `mlflow` is needed and not installed.
    """
    projects = [_project(each, str(path)) for each in experiments_of(str(path))]
    logged = [project for project in projects if any(run.trails for run in project.runs)]
    if not logged:
        raise InputError(f"{path} holds no MLflow runs with metrics", "name the folder mlruns, or the file mlflow.db")
    return tuple(project.as_experiment(path) for project in logged)


def _project(experiment: StoredExperiment, address: str) -> TrackedProject:
    """The runs of an experiment by start, without parents that have no metrics of their own."""
    runs = sorted(experiment.read_runs(), key=lambda run: (run.started, run.id))
    n_named = Counter(run.name for run in runs)
    names = {run.id: run.name for run in runs if n_named[run.name] == 1}
    parents = {run.sweep for run in runs}
    empty = [run for run in runs if run.id in parents and not run.trails]
    for run in runs:
        run.sweep = names.get(run.sweep) or run.sweep[:8]
    kept, notes = trained(run for run in runs if run not in empty)
    notes += note_on((run.label for run in empty), "parent run without metrics, left out")
    return TrackedProject(address, experiment.name, "mlflow", "param.", kept, experiment.load_values, notes=notes)


def experiments_of(store: str) -> list[StoredExperiment]:
    """The experiments of a store.

    Args:
        store: a path, or an address as MLflow takes it: `http://host:5000`, `sqlite:///mlflow.db`.

    Raises:
        InputError: there is no such store, it is damaged or does not answer, or the package `mlflow` is needed.
    """
    if "://" in store and not store.startswith(("file:", "sqlite:")):
        return _by_client(store)
    path = Path(urllib.parse.unquote(store.removeprefix("sqlite:///").removeprefix("file://")))
    if _is_folder_store(path):
        return _of_folders(path)
    database = path / DATABASE if path.is_dir() else path
    if not _is_database(database):  # in any other file MLflow would make its tables
        raise InputError(f"{path} is no store of MLflow, or is damaged", "name the folder mlruns, or mlflow.db")
    return _by_client(f"sqlite:///{database.resolve()}")


def _run(info: Mapping[str, Any], params: dict[str, str], tags: dict[str, str], metrics: Iterable[str]) -> TrackedRun:
    """A run by what MLflow notes of it; times are in milliseconds, and a run that has not ended lacks its end."""
    began = _seconds(info.get("start_time"))
    return TrackedRun(
        id=info["run_id"],
        name=tags.get(NAME, ""),
        status=STATES.get(str(info.get("status")), "lost"),
        started=began,
        wall_time_s=max(0.0, _seconds(info.get("end_time")) - began),
        trails={name: [] for name in metrics if not name.startswith(MACHINE)},
        params=params,
        facts={fact: tags[tag] for tag, fact in FACTS.items() if tag in tags},
        sweep=tags.get(PARENT, ""),  # searches for settings start their runs below one of their own
        labels={"source": tags.get("mlflow.source.name", "")},
        is_aggregate=AGGREGATE in tags,
    )


def _seconds(milliseconds: object) -> float:
    return int(str(milliseconds)) / 1000 if str(milliseconds).isdigit() else 0.0


def read_mlflow_experiment(place: str) -> TrackedProject:
    """Read the runs of an experiment of MLflow.

    Args:
        place: `EXPERIMENT`, by name or id, in the store of MLFLOW_TRACKING_URI or of this folder; or a store, with
            `#EXPERIMENT` behind it: `http://host:5000#cifar`, also the address of a page of the server, or a path.

    Raises:
        InputError: there is no such store or experiment, or it cannot be read.
    """
    store, name = _split(place)
    address = f"mlflow:{redact(place)}"
    return _project(_choose(experiments_of(store), name, address), address)


def _split(place: str) -> tuple[str, str]:
    """The store, and the experiment in it, empty for the only one."""
    store, _, fragment = place.partition("#")
    if "://" in store or fragment or is_store(Path(store)):
        parts = fragment.strip("/").split("/")
        return store, parts[1] if parts[0] == "experiments" and len(parts) > 1 else urllib.parse.unquote(fragment)
    default = os.environ.get(STORE) or next((name for name in (DATABASE, "mlruns") if Path(name).exists()), "")
    if not default:
        hint = f"set {STORE}, or write mlflow:http://HOST:5000#EXPERIMENT"
        raise InputError(f"mlflow:{place}: there is no store of MLflow here, and {STORE} is not set", hint)
    return default, place


def _choose(experiments: Sequence[StoredExperiment], name: str, address: str) -> StoredExperiment:
    """The experiment of that name or number; without a name the only one."""
    candidates = [each for each in experiments if name in {each.name, each.id}] if name else list(experiments)
    if len(candidates) == 1:
        return candidates[0]
    which = f"no experiment {name!r}" if name else f"{len(candidates)} experiments"
    listed = first_few(sorted(each.name for each in experiments), 8)
    raise InputError(f"reading {address}: the store has {which}", f"name one with #EXPERIMENT: {listed}")


# Folders, read without MLflow.


def _is_folder_store(path: Path) -> bool:
    metas = [path / META] if (path / META).is_file() else path.glob(f"*/{META}")
    return any("experiment_id" in head(meta) for meta in metas)


def _of_folders(path: Path) -> list[StoredExperiment]:
    folders = [path] if (path / META).is_file() else [meta.parent for meta in sorted(path.glob(f"*/{META}"))]
    return [_folder(folder) for folder in folders]


def _folder(folder: Path) -> StoredExperiment:
    """An experiment whose runs have folders; models are logged beside them since MLflow 3."""
    meta = _meta(folder)

    def read_runs() -> list[TrackedRun]:
        metas = {path.parent: _meta(path.parent) for path in sorted(folder.glob(f"*/{META}"))}
        return [
            _folder_run(place, its)
            for place, its in metas.items()
            if "run_id" in its and its.get("lifecycle_stage") != "deleted"
        ]

    return StoredExperiment(
        meta.get("experiment_id", ""), meta.get("name", ""), read_runs, lambda run: _load_values(folder / run.id, run)
    )


def _folder_run(folder: Path, meta: Mapping[str, Any]) -> TrackedRun:
    params, tags = (
        {name: path.read_text(encoding="utf-8", errors="replace") for name, path in _files(folder / kind).items()}
        for kind in ("params", "tags")
    )
    return _run(meta, params, tags, _files(folder / "metrics"))


def _files(folder: Path) -> dict[str, Path]:
    """Files below a folder by the name of their metric, parameter or tag, whose slashes are subfolders."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("[!.]*")) if path.is_file()}


def _load_values(folder: Path, run: TrackedRun) -> None:
    """Read the values of all metrics, without torn last lines: a number that is cut off would be another one."""
    for name in run.trails:
        path = folder / "metrics" / name
        whole, _, torn = path.read_text(encoding="utf-8", errors="replace").rpartition("\n")
        run.torn += [name] if torn else []
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                time, value, *rest = line.split()
                run.log(name, int(rest[0]) if rest else 0, float(value), int(time) / 1000)
            except ValueError as error:
                raise InputError(f"{path} is damaged in line {number}: {line[:80]!r}", CURE) from error


def _meta(folder: Path) -> Mapping[str, str]:
    fields = read_settings(folder / META)
    if not fields:
        raise InputError(f"{folder / META} is damaged: it has no fields", CURE)
    return fields


# Databases and servers, read by MLflow.


def _is_database(path: Path) -> bool:
    """Whether a file is an SQLite database with the tables of MLflow."""
    with contextlib.suppress(ImportError):  # missing in some builds of Python
        import sqlite3

        with contextlib.suppress(OSError, sqlite3.Error), path.open("rb") as file:
            if file.read(16).startswith(b"SQLite format 3"):
                with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
                    return {name for (name,) in base.execute("SELECT name FROM sqlite_master")} >= TABLES
    return False


def _by_client(address: str) -> list[StoredExperiment]:
    # Before MLflow is imported: it reports its use to its authors, and tries a server that is not there for minutes.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    doing = f"reading the MLflow store {redact(address)}"
    with calling("mlflow", doing, HINT):
        from mlflow import MlflowClient

        client = MlflowClient(address)
        experiments = list(_pages(client.search_experiments))

    def experiment_of(experiment: Any) -> StoredExperiment:
        def read_runs() -> list[TrackedRun]:
            with calling("mlflow", doing, HINT):
                runs = _pages(client.search_runs, experiment_ids=[experiment.experiment_id], max_results=RUNS_PER_PAGE)
                return [_run(dict(it.info), dict(it.data.params), dict(it.data.tags), it.data.metrics) for it in runs]

        def load_values(run: TrackedRun) -> None:
            with calling("mlflow", doing, HINT), ThreadPoolExecutor(N_CONNECTIONS) as pool:  # a request for each metric
                histories = pool.map(lambda name: client.get_metric_history(run.id, name), run.trails)
                for name, history in zip(list(run.trails), histories, strict=True):
                    for metric in history:
                        run.log(name, metric.step, _real_number(metric.value), metric.timestamp / 1000)

        return StoredExperiment(str(experiment.experiment_id), experiment.name, read_runs, load_values)

    return [experiment_of(experiment) for experiment in experiments]


def _pages(search: Callable[..., Any], **query: object) -> Iterator[Any]:
    token = None
    while True:
        page = search(**query, page_token=token)
        yield from page
        token = page.token
        if not token:
            return


def _real_number(value: float) -> float:
    """A metric value, of which MLflow stores infinity as the largest float."""
    return math.copysign(math.inf, value) if abs(value) >= sys.float_info.max else float(value)
