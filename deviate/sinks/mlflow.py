"""Sink `mlflow`: the fluent functions and the client (orders of arguments: 3.17)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import sink


@sink("mlflow", ["mlflow.log_metric", "mlflow.tracking.fluent.log_metric"], ["mlflow.log_metric"])
def log_metric(key: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log_metric(key, value, step, …)`."""
    yield Scalar(key, value)


@sink("mlflow", ["mlflow.log_metrics", "mlflow.tracking.fluent.log_metrics"], ["mlflow.log_metrics"])
def log_metrics(metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(metrics, step, …)`."""
    yield Record(metrics)


@sink("mlflow", ["mlflow.*MlflowClient().log_metric"], ["*mlflow*client.log_metric", "client.log_metric"])
def client_log_metric(run_id: Any, key: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`MlflowClient.log_metric(run_id, key, value, timestamp, step, …)`."""
    yield Scalar(key, value)
