"""Writer for MLflow: a run per experiment or variant, with figures, curves, tags and the page of the report."""

import logging
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from deviate.errors import RecordError
from deviate.report.format import clean, shorten
from deviate.report.trackers.aggregate import AggregateReport, AggregateRun
from deviate.report.trackers.registry import Written, tracker

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric

EXPERIMENT = "deviate"
LARGEST_BATCH = 1000
"""Metrics of one request. Source: mlflow.utils.validation, MAX_METRICS_PER_BATCH."""
LONGEST_KEY = 250
LONGEST_TAG = 5000
"""Characters that every store takes. Source: MLflow, "Tracking API", limits of `log_batch`."""
LONGEST_REASON = 200
FORBIDDEN = re.compile(r"[^\w.\- :/]")
"""Source: mlflow.utils.validation, names of metrics; MLflow on Windows refuses the colon as well."""


@tracker("mlflow")
def write_to_mlflow(report: AggregateReport, where: str | None) -> Written:
    """Write runs of the experiment `MLFLOW_EXPERIMENT_NAME`, or `deviate`, of a store.

    Args:
        where: address of the store; None for the one that MLflow itself would take.

    Raises:
        RecordError: the store cannot be written to.
    """
    # Before MLflow is imported: it reports its use to its authors, and each step of making a database.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_LOGGING_LEVEL", "WARNING")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")  # a server that is not there is tried for minutes
    import mlflow
    from mlflow.exceptions import MlflowException

    logging.getLogger("alembic").setLevel(logging.WARNING)
    address = _address(where) if where else mlflow.get_tracking_uri()
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME", EXPERIMENT)
    try:
        client = mlflow.MlflowClient(tracking_uri=address)
        experiment = client.get_experiment_by_name(name)
        experiment_id = client.create_experiment(name) if experiment is None else experiment.experiment_id
        for run in report.runs:
            _write_run(client, experiment_id, report, run)
    except (MlflowException, ImportError, OSError) as error:
        raise RecordError(
            f"writing to MLflow at {address}: {shorten(clean(str(error)), LONGEST_REASON)}",
            "name another store: --to mlflow:sqlite:///mlflow.db",
        ) from error
    next_step = address if address.startswith("http") else f"mlflow ui --backend-store-uri {shlex.quote(address)}"
    return Written(f"experiment {name}, group {report.group}", f"show: {next_step}")


def _address(where: str) -> str:
    """The file of a database as the address that MLflow wants."""
    is_database = "://" not in where and where.endswith(".db")
    return f"sqlite:///{Path(where).resolve()}" if is_database else where


def _write_run(client: "MlflowClient", experiment_id: str, report: AggregateReport, run: AggregateRun) -> None:
    time_ms = int(report.written.timestamp() * 1000)
    tags = {
        "mlflow.note.content": report.summary,
        "mlflow.source.name": "deviate report",
        "deviate.group": report.group,
        **{f"deviate.{name}": text for name, text in run.facts.items()},
        **{_key(name): text for name, text in run.words.items()},
    }
    shortened = {key: text[:LONGEST_TAG] for key, text in tags.items() if text}
    run_id = client.create_run(
        experiment_id, start_time=time_ms, tags=shortened, run_name=f"{run.label} {report.stamp}"
    ).info.run_id
    metrics = _metrics(run, time_ms)
    for begin in range(0, len(metrics), LARGEST_BATCH):
        client.log_batch(run_id, metrics=metrics[begin : begin + LARGEST_BATCH])
    client.log_text(run_id, report.page(), "report.html")
    client.set_terminated(run_id, end_time=time_ms)


def _metrics(run: AggregateRun, time_ms: int) -> "list[Metric]":
    from mlflow.entities import Metric

    figures = [Metric(_key(name), value, time_ms, 0) for name, value in run.figures.items()]
    curves = [Metric(_key(name), value, time_ms, step) for name, points in run.curves.items() for step, value in points]
    return figures + curves


def _key(name: str) -> str:
    """A name that MLflow takes: it is also the path of a file."""
    parts = [part if part.strip(".") else f"_{part}" for part in FORBIDDEN.sub("_", name).split("/") if part]
    return "/".join(parts)[-LONGEST_KEY:].lstrip("/")
