"""Sink `transformers`: the Trainer of Hugging Face Transformers and its subclasses (orders of arguments: 5.23)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import methods, sink

TRAINERS = ("transformers.*Trainer()", "trl.*Trainer()")


@sink("transformers", methods(TRAINERS, ["log"]), ["trainer.log", "*.trainer.log"])
def log(logs: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(logs, start_time)`."""
    yield Record(logs)


@sink(
    "transformers",
    methods(TRAINERS, ["log_metrics", "save_metrics"]),
    methods(["*trainer"], ["log_metrics", "save_metrics"]),
)
def log_metrics(split: Any, metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(split, metrics)`; the names carry the split already."""
    yield Record(metrics)
