"""Experiments of MLflow: of a tracking server, over its REST API, or of a store on disk, both without MLflow.

The REST API is documented and has had the same calls since version 2.0, so that servers and clients of all releases
understand it; the package `mlflow` would take a second to import. Stores on disk are read by the importer `mlflow`.

Source: https://mlflow.org/docs/latest/rest-api.html, https://mlflow.org/docs/latest/auth
"""

import base64
import configparser
import functools
import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deviate.base import first_few, redact
from deviate.errors import InputError
from deviate.records.importers.mlflow import (
    DATABASE,
    MACHINE,
    PARENT,
    STATES,
    Group,
    Stored,
    is_database,
    is_folders,
    read_database,
    read_folders,
    real_number,
    runs_to_read,
)
from deviate.records.importers.tracked import TrackedRun, Trail, note_on
from deviate.records.trackers.project import Load, Project, read_nothing, split_aggregates

STORE = "MLFLOW_TRACKING_URI"
SOURCE = "mlflow.source.name"
AGGREGATE = "deviate.experiment"
"""A tag of runs that `deviate report --to mlflow` writes."""
API = "api/2.0/mlflow/"
RUNS_PER_PAGE, VALUES_PER_PAGE = 1_000, 25_000
"""Most that all releases of the server give at once.

Source: SEARCH_MAX_RESULTS_THRESHOLD and GET_METRIC_HISTORY_MAX_RESULTS of MLflow 3.17.
"""
WAITS_S = (0.5, 2.0, 8.0)
"""Pauses before a request is sent again that an overloaded server refused."""
OVERLOADED = frozenset({429, 500, 502, 503, 504})
TIMEOUT_S = 30.0
N_CONNECTIONS = 8
LONGEST_MESSAGE = 200


def read_mlflow_experiment(place: str) -> Project:
    """Read the runs of an experiment of MLflow.

    Args:
        place: `EXPERIMENT`, by name or id, in the store of MLFLOW_TRACKING_URI or of this folder; or a store, with
            `#EXPERIMENT` behind it: `http://host:5000#cifar`, also the address of a page of the server, or a path.

    Raises:
        InputError: there is no such store or experiment, or it cannot be read.
    """
    store, experiment = _split(place)
    address = f"mlflow:{redact(place)}"
    if store.startswith(("http://", "https://")):
        try:
            return _of_server(_Server(store, address), experiment, address)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _stranger(address) from error
    return _of_disk(store, experiment, address)


def _split(place: str) -> tuple[str, str]:
    """The store, and the experiment in it, empty for the only one."""
    store, _, fragment = place.partition("#")
    if "://" in store or fragment or _is_on_disk(Path(store)):
        parts = fragment.strip("/").split("/")
        return store, parts[1] if parts[0] == "experiments" and len(parts) > 1 else urllib.parse.unquote(fragment)
    default = os.environ.get(STORE, "")
    if not default:
        default = next((name for name in (DATABASE, "mlruns") if Path(name).exists()), "")
    if not default:
        raise InputError(
            f"mlflow:{place}: there is no store of MLflow here, and {STORE} is not set",
            f"set {STORE}, or write mlflow:http://HOST:5000#EXPERIMENT",
        )
    return default, place


def _is_on_disk(path: Path) -> bool:
    return is_folders(path) or is_database(path) or is_database(path / DATABASE)


def _of_disk(store: str, experiment: str, address: str) -> Project:
    path = Path(urllib.parse.unquote(store.removeprefix("sqlite:///").removeprefix("file://")))
    if "://" in str(path) or store.startswith("databricks"):
        raise InputError(
            f"reading {address}: stores of this kind are not read", "name a server (http://…), a folder or mlflow.db"
        )
    if not _is_on_disk(path):
        raise InputError(f"reading {address}: {path} is no store of MLflow", "name the folder mlruns, or mlflow.db")
    groups = read_folders(path) if is_folders(path) else read_database(path / DATABASE if path.is_dir() else path)
    by_name = {group.name: group for group in groups if not group.is_deleted and group.runs}
    if not experiment and len(by_name) == 1:
        (experiment,) = by_name
    if experiment not in by_name:
        raise _no_experiment(experiment, list(by_name), address)
    return _project(by_name[experiment], address)


def _stranger(address: str) -> InputError:
    return InputError(f"reading {address}: the answer is not one of MLflow", "name a tracking server of MLflow")


def _no_experiment(experiment: str, names: list[str], address: str) -> InputError:
    which = f"no experiment {experiment!r}" if experiment else f"{len(names)} experiments"
    listed = first_few(sorted(names), 8) or "it has none with runs"
    return InputError(f"reading {address}: the store has {which}", f"name one with #EXPERIMENT: {listed}")


def _project(group: Group, address: str, load: Load = read_nothing) -> Project:
    deleted = [run.label for run in group.runs if run.is_deleted]
    n_named = Counter(run.name for run in group.runs)
    names = {run.id: run.name for run in group.runs if n_named[run.name] == 1}
    runs = runs_to_read(group)
    for run in runs:
        parent = run.tags.get(PARENT, "")  # searches for settings start their runs below one of their own
        run.sweep = names.get(parent) or parent[:8]
        run.labels = {"source": run.tags.get(SOURCE, "")}
    aggregates = {run.id for run in runs if AGGREGATE in run.tags}
    trained, notes = split_aggregates(runs, lambda run: run.id in aggregates)
    notes += tuple(note_on(deleted, "deleted in MLflow, left out"))
    return Project(address, group.name, "mlflow", "param.", trained, load, notes=notes)


def _of_server(server: "_Server", experiment: str, address: str) -> Project:
    key, name = _find_experiment(server, experiment, address)
    group = Group(name, runs=[_run(run) for run in _pages(server, "runs/search", "runs", {"experiment_ids": [key]})])

    def load(run: TrackedRun) -> None:
        try:
            with ThreadPoolExecutor(N_CONNECTIONS) as pool:  # a request for each metric of each run
                trails = pool.map(lambda metric: _history(server, run.id, metric), run.trails)
                run.trails = dict(zip(run.trails, trails, strict=True))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _stranger(address) from error

    return _project(group, address, load)


def _find_experiment(server: "_Server", experiment: str, address: str) -> tuple[str, str]:
    """Identifier and name of an experiment."""
    details: dict[str, Any] | None = None
    if experiment:
        details = server.get("experiments/get-by-name", {"experiment_name": experiment})
        if details is None and experiment.isdigit():
            details = server.get("experiments/get", {"experiment_id": experiment})
    if details is not None:
        return str(details["experiment"]["experiment_id"]), str(details["experiment"]["name"])
    experiments = list(_pages(server, "experiments/search", "experiments", {}))
    ids = {str(one["name"]): str(one["experiment_id"]) for one in experiments}
    experiment_names = [name for name in ids if name != "Default"]  # every server has it, and most leave it empty
    if not experiment and len(experiment_names or ids) == 1:
        (name,) = experiment_names or ids
        return ids[name], name
    raise _no_experiment(experiment, list(ids), address)


def _pages(server: "_Server", call: str, field: str, query: Mapping[str, object]) -> Iterator[dict[str, Any]]:
    token = ""
    while True:
        answer = server.post(call, {**query, "max_results": RUNS_PER_PAGE, **({"page_token": token} if token else {})})
        yield from answer.get(field, [])
        token = answer.get("next_page_token") or ""
        if not token:
            return


def _run(run: Mapping[str, Any]) -> Stored:
    """A run with the last value of each metric, which `load` replaces by its history."""
    info, data = run["info"], run.get("data", {})
    tags = _pairs(data.get("tags", []))
    stored = Stored(
        str(info.get("run_id") or info["run_uuid"]),
        info.get("run_name") or tags.get("mlflow.runName", ""),
        STATES.get(str(info.get("status", "")), "lost"),
        int(info.get("start_time") or 0) / 1000,
        is_deleted=info.get("lifecycle_stage") == "deleted",
        ended=int(info.get("end_time") or 0) / 1000,
        params=_pairs(data.get("params", [])),
        tags=tags,
    )
    for metric in data.get("metrics", []):
        if not metric["key"].startswith(MACHINE):
            _add(stored.trails.setdefault(metric["key"], Trail()), metric)
    return stored


def _pairs(entries: list[dict[str, Any]]) -> dict[str, str]:
    return {str(entry["key"]): str(entry.get("value", "")) for entry in entries}


def _add(trail: Trail, metric: Mapping[str, Any]) -> None:
    """Add a value; NaN is a word in JSON, and a step of 0 may be left out."""
    trail.add(
        int(metric.get("step") or 0), real_number(float(metric["value"])), int(metric.get("timestamp") or 0) / 1000
    )


def _history(server: "_Server", run_id: str, metric: str) -> Trail:
    trail, token = Trail(), ""
    while True:
        query = {"run_id": run_id, "metric_key": metric, "max_results": VALUES_PER_PAGE}
        answer = server.get("metrics/get-history", {**query, **({"page_token": token} if token else {})}) or {}
        for entry in answer.get("metrics", []):
            _add(trail, entry)
        token = answer.get("next_page_token") or ""
        if not token:
            return trail


@dataclass(frozen=True, slots=True)
class _Server:
    """A tracking server; each call gives the parsed answer.

    Raises:
        InputError: it cannot be reached, refuses, or answers with something else.
    """

    uri: str
    address: str

    def get(self, call: str, query: Mapping[str, object]) -> dict[str, Any] | None:
        """None where the server has no such thing."""
        return self._send(f"{call}?{urllib.parse.urlencode(query)}", None)

    def post(self, call: str, query: Mapping[str, object]) -> dict[str, Any]:
        answer = self._send(call, json.dumps(query).encode())
        if answer is None:
            raise _stranger(self.address)
        return answer

    def _send(self, call: str, body: bytes | None) -> dict[str, Any] | None:
        parts = urllib.parse.urlsplit(self.uri)
        base = parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="", query="").geturl().rstrip("/")
        request = urllib.request.Request(f"{base}/{API}{call}", body, {"Content-Type": "application/json"})  # noqa: S310  (http alone comes here)
        if authorization := _authorization(parts):
            request.add_unredirected_header("Authorization", authorization)  # another host must not see it
        context = _certificates() if parts.scheme == "https" else None
        doing = f"reading {self.address}"
        for wait_s in (*WAITS_S, None):
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context) as answer:  # noqa: S310
                    parsed = json.load(answer)
            except urllib.error.HTTPError as error:
                with error:
                    if error.code == 404:
                        return None
                    if error.code not in OVERLOADED or wait_s is None:
                        raise _explain(error, doing) from error
                time.sleep(wait_s)
                continue
            except (OSError, http.client.HTTPException) as error:
                reason = redact(str(getattr(error, "reason", error)))
                raise InputError(f"{doing}: no answer ({reason})", f"check the network and {STORE}") from error
            except ValueError as error:
                raise _stranger(self.address) from error
            if not isinstance(parsed, dict):
                raise _stranger(self.address)
            return parsed
        raise AssertionError  # the last try returns or raises


def _explain(error: urllib.error.HTTPError, doing: str) -> InputError:
    if error.code in {401, 403}:
        return InputError(
            f"{doing}: the server refuses access (HTTP {error.code})",
            "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN",
        )
    if error.code in OVERLOADED:
        return InputError(
            f"{doing}: the server is overloaded or broken (HTTP {error.code}, {len(WAITS_S) + 1} tries)",
            "try again later",
        )
    try:
        text = str(json.load(error).get("message", ""))
    except (ValueError, AttributeError, OSError):
        text = ""
    return InputError(
        f"{doing}: HTTP {error.code} {redact(text or error.reason)[:LONGEST_MESSAGE]}",
        f"check {STORE} and the experiment",
    )


def _authorization(parts: urllib.parse.SplitResult) -> str:
    """From the address or where MLflow looks: its variables, then `~/.mlflow/credentials`."""
    if token := os.environ.get("MLFLOW_TRACKING_TOKEN"):
        return f"Bearer {token}"
    user, password = urllib.parse.unquote(parts.username or ""), urllib.parse.unquote(parts.password or "")
    if not user:
        file = configparser.ConfigParser(interpolation=None)
        try:
            file.read(Path("~/.mlflow/credentials").expanduser(), encoding="utf-8")
            section = dict(file["mlflow"]) if "mlflow" in file else {}
        except (configparser.Error, OSError, ValueError, RuntimeError):
            section = {}
        user = os.environ.get("MLFLOW_TRACKING_USERNAME", section.get("mlflow_tracking_username", ""))
        password = os.environ.get("MLFLOW_TRACKING_PASSWORD", section.get("mlflow_tracking_password", ""))
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}" if user else ""


@functools.cache
def _certificates() -> ssl.SSLContext:
    if os.environ.get("MLFLOW_TRACKING_INSECURE_TLS") == "true":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context
    return ssl.create_default_context(cafile=os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH"))
