"""Sink `hypertune`: metrics for the tuning service of Google Cloud (order of arguments: 0.1)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar
from .registry import sink


@sink(
    "hypertune",
    ["hypertune.HyperTune().report_hyperparameter_tuning_metric"],
    ["*.report_hyperparameter_tuning_metric"],
)
def report(hyperparameter_metric_tag: Any, metric_value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """Tag and value first."""
    yield Scalar(hyperparameter_metric_tag, metric_value)
