"""Projects of Weights & Biases, read over the network by its own library.

The package `wandb` is used rather than the service: it documents `Api.runs` and `Run.scan_history`, but not the queries
behind them, and the full history of a long run lies in files that only the library joins with the newest rows. It finds
the API key where W&B keeps it (WANDB_API_KEY, netrc), tries again after overload, and takes WANDB_BASE_URL.
"""

import datetime as dt
import inspect
import os
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from deviate.base import redact
from deviate.errors import InputError
from deviate.model import Status
from deviate.records.importers.tracked import TrackedRun
from deviate.records.importers.wandb import AGGREGATE, OWN, add_row, add_scores, flatten, numbers, settings
from deviate.records.trackers.project import Project, split_aggregates

STATES: Mapping[str, Status] = {
    "finished": "completed", "crashed": "crashed", "failed": "crashed", "killed": "cancelled",
}  # fmt: skip
"""Status of a run by its state. In any other state it has not ended, and counts as lost."""
PAGE = 100
LONGEST_MESSAGE = 200


def read_wandb_project(place: str) -> Project:
    """Read the runs of `ENTITY/PROJECT`, `PROJECT` of the default entity, or the address of a page of the project.

    Raises:
        InputError: `wandb` is not installed, there is no API key, no such project, or no answer.
    """
    path = _path(place)
    address = f"wandb:{path}"
    wandb = _library(address)
    try:
        api = wandb.Api()
        options = {"lazy": False} if "lazy" in inspect.signature(api.runs).parameters else {}
        cloud_runs = list(api.runs(path, per_page=PAGE, **options))
        runs, notes = split_aggregates([_run(run) for run in cloud_runs], lambda run: AGGREGATE in run.params)
        aims = dict(_aims(cloud_runs))
    except Exception as error:  # the library raises many types, some of them undocumented
        raise _explain(error, address) from error
    by_id = {run.id: run for run in cloud_runs}

    def load(run: TrackedRun) -> None:
        try:
            _load(run, by_id[run.id])
        except Exception as error:
            raise _explain(error, f"{address}/{run.id}") from error

    return Project(
        address, path.rpartition("/")[2], "wandb", "config.", runs, load, aims, has_clock_times=False, notes=notes
    )


def _path(place: str) -> str:
    """ENTITY/PROJECT or PROJECT, also from the address of a page."""
    is_page = "://" in place
    parts = (urllib.parse.urlsplit(place).path if is_page else place).strip("/").split("/")
    if not all(parts) or (len(parts) > 2 and not is_page):
        raise InputError(f"wandb:{place} is no project", "write wandb:ENTITY/PROJECT; --group sweep=ID chooses a sweep")
    return "/".join(parts[:2])


def _library(address: str) -> ModuleType:
    # Before wandb is imported: it reports errors to its authors.
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    try:
        import wandb
    except ImportError as error:
        raise InputError(
            f"reading {address}: the package wandb is not installed here, or cannot be imported: {error}",
            "install it beside deviate (pip install --upgrade wandb), or name a folder of offline runs",
        ) from error
    # Without its own messages, the library does not ask for a key on the terminal either.
    wandb.setup(settings=wandb.Settings(silent=True))
    return wandb


def _run(run: Any) -> TrackedRun:
    params = dict(settings(_flat(run.config)))
    started = _seconds(run.created_at)
    return TrackedRun(
        id=run.id,
        name=run.name or "",
        status=STATES.get(run.state, "lost"),
        started=started,
        wall_time_s=max(0.0, _seconds(getattr(run, "heartbeat_at", None)) - started),
        params=params,
        sweep=run.sweep_name or "",
        labels={"group": run.group or "", "job_type": run.job_type or ""},
    )


def _flat(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        yield from flatten(name, value)


def _seconds(text: object) -> float:
    """Seconds since the epoch of a time in ISO 8601, which is UTC; 0 where there is none."""
    try:
        time = dt.datetime.fromisoformat(str(text))
    except ValueError:
        return 0.0
    return (time if time.tzinfo else time.replace(tzinfo=dt.UTC)).timestamp()


def _aims(runs: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What the sweeps among the runs were tuned on."""
    first = {run.sweep_name: run for run in reversed(runs) if run.sweep_name}
    for name, run in first.items():
        metric = (run.sweep.config or {}).get("metric") if run.sweep is not None else None
        if isinstance(metric, dict) and metric.get("name"):
            yield name, f"{metric['name']} ({metric.get('goal', 'minimize')})"


def _load(run: TrackedRun, source: Any) -> None:
    """Read all rows of the history, not the sample that `Run.history` gives, and the scores of the summary."""
    for number, row in enumerate(source.scan_history(page_size=1000)):
        add_row(run, _flat(row), number)
    summary = numbers(_flat(dict(source.summary_metrics or {})))
    add_scores(run, {name: value for name, value in summary if name.partition(".")[0] not in OWN})


def _explain(error: Exception, address: str) -> InputError:
    """What the library says went wrong, and all that may help: it has no finer types of exceptions."""
    text = redact(" ".join(str(error).split()))[:LONGEST_MESSAGE] or type(error).__name__
    return InputError(
        f"reading {address}: {text}",
        "check entity, project and the network, and log in with `wandb login`, or set WANDB_API_KEY",
    )
