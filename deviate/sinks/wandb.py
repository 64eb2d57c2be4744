"""Sink `wandb`: Weights & Biases (orders of arguments: 0.31)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import sink


@sink(
    "wandb",
    ["wandb.log", "wandb.*.log"],
    ["wandb.log", "*wandb*.log", "run.log", "*.run.log", "*_run.log", "*experiment.log"],
)
def log(data: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log(data, step, commit)` of the module and of a run."""
    yield Record(data)


@sink("wandb", ["wandb.*summary.update"], ["*wandb.summary.update", "*run.summary.update"])
def summary_update(d: Any) -> Iterator[Record]:
    """Results of the whole run."""
    yield Record(d)


@sink("wandb", ["wandb.summary[]=", "wandb.*.summary[]="], ["*wandb.summary[]=", "*run.summary[]="])
def summary_item(key: Any, value: Any) -> Iterator[Scalar]:
    """`wandb.run.summary["best"] = value`."""
    yield Scalar(key, value)
