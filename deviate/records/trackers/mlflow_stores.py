"""Experiments of MLflow: of a tracking server, of a database or of a folder, as the importer `mlflow` reads them."""

import os
import urllib.parse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from deviate.base import first_few, redact
from deviate.errors import InputError
from deviate.records.importers.mlflow import (
    DATABASE,
    PARENT,
    StoredExperiment,
    experiments_of,
    is_store,
    runs_to_read,
)
from deviate.records.importers.tracked import note_on
from deviate.records.trackers.project import Project, split_aggregates

STORE = "MLFLOW_TRACKING_URI"
SOURCE = "mlflow.source.name"
AGGREGATE = "deviate.experiment"
"""A tag of runs that `deviate report --to mlflow` writes."""
DEFAULT = "Default"
"""An experiment that every store has, and most leave empty."""


def read_mlflow_experiment(place: str) -> Project:
    """Read the runs of an experiment of MLflow.

    Args:
        place: `EXPERIMENT`, by name or id, in the store of MLFLOW_TRACKING_URI or of this folder; or a store, with
            `#EXPERIMENT` behind it: `http://host:5000#cifar`, also the address of a page of the server, or a path.

    Raises:
        InputError: there is no such store or experiment, or it cannot be read.
    """
    store, name = _split(place)
    address = f"mlflow:{redact(place)}"
    experiment = _choose([each for each in experiments_of(store) if not each.is_deleted], name, address)
    all_runs = experiment.read_runs()
    n_named = Counter(run.name for run in all_runs)
    names = {run.id: run.name for run in all_runs if n_named[run.name] == 1}
    runs = runs_to_read(all_runs)
    for run in runs:
        parent = run.tags.get(PARENT, "")  # searches for settings start their runs below one of their own
        run.sweep = names.get(parent) or parent[:8]
        run.labels = {"source": run.tags.get(SOURCE, "")}
    aggregates = {run.id for run in runs if AGGREGATE in run.tags}
    trained, notes = split_aggregates(runs, lambda run: run.id in aggregates)
    notes += tuple(note_on((run.label for run in all_runs if run.is_deleted), "deleted in MLflow, left out"))
    return Project(address, experiment.name, "mlflow", "param.", trained, experiment.load_values, notes=notes)


def _split(place: str) -> tuple[str, str]:
    """The store, and the experiment in it, empty for the only one."""
    store, _, fragment = place.partition("#")
    if "://" in store or fragment or is_store(Path(store)):
        parts = fragment.strip("/").split("/")
        return store, parts[1] if parts[0] == "experiments" and len(parts) > 1 else urllib.parse.unquote(fragment)
    default = os.environ.get(STORE) or next((name for name in (DATABASE, "mlruns") if Path(name).exists()), "")
    if not default:
        raise InputError(
            f"mlflow:{place}: there is no store of MLflow here, and {STORE} is not set",
            f"set {STORE}, or write mlflow:http://HOST:5000#EXPERIMENT",
        )
    return default, place


def _choose(experiments: Sequence[StoredExperiment], name: str, address: str) -> StoredExperiment:
    """The experiment of that name or number; without a name the only one."""
    candidates = [each for each in experiments if name in {each.name, each.id}] if name else list(experiments)
    if not name and len(candidates) > 1:
        candidates = [each for each in candidates if each.name != DEFAULT]
    if len(candidates) == 1:
        return candidates[0]
    which = f"no experiment {name!r}" if name else f"{len(candidates)} experiments"
    listed = first_few(sorted(each.name for each in experiments), 8)
    raise InputError(f"reading {address}: the store has {which}", f"name one with #EXPERIMENT: {listed}")
