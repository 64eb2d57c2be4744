"""Sink `transformers`: the Trainer of Hugging Face Transformers and its subclasses (orders of arguments: 5.23).

Its calls get no tap: the adapter of Transformers records what a Trainer logs. A trainer that only has this name may be
of the script's own, and is a tracker like others.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import methods, sink

TRAINERS = ("transformers.*Trainer()", "trl.*Trainer()")


@sink("transformers", methods(TRAINERS, ["log"]))
def log(logs: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(logs, start_time)`."""
    yield Record(logs)


@sink("transformers", methods(TRAINERS, ["log_metrics", "save_metrics"]))
def log_metrics(split: Any, metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(split, metrics)`; the names carry the split already."""
    yield Record(metrics)


@sink("tracker", (), ["trainer.log", "*.trainer.log"])
def log_of_any(logs: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """The same of a trainer that is not known."""
    yield Record(logs)


@sink("tracker", (), methods(["*trainer"], ["log_metrics", "save_metrics"]))
def log_metrics_of_any(split: Any, metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """The same of a trainer that is not known."""
    yield Record(metrics)
