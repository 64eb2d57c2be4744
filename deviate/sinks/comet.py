"""Sink `comet`: experiments of comet_ml, however they were made (orders of arguments: 3.58)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import given, sink


@sink("comet", ["comet_ml.*().log_metric"], ["*experiment.log_metric"])
def log_metric(name: Any = None, value: Any = None, *rest: Any, metric: Any = None, **options: Any) -> Iterator[Scalar]:
    """`log_metric(name, value, step, epoch, …)`; `APIExperiment` calls the first `metric`."""
    if value is not None:
        yield Scalar(given(name, metric), value)


@sink("comet", ["comet_ml.*().log_metrics"], ["*experiment.log_metrics"])
def log_metrics(dic: Any, prefix: Any = None, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(dic, prefix, step, epoch, …)`."""
    yield Record(dic, prefix)
