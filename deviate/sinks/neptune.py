"""Sink `neptune`: series of a run, which are named by the subscript, and metrics of the older and newer clients.

Orders of arguments: neptune 1.14 (with its `legacy` module) and neptune_scale 0.30.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import methods, sink

RUNS = ("neptune.init_run()", "neptune.init()", "neptune.*Run()", "neptune.new.init()", "neptune.new.init_run()")
FIELDS = tuple(run + "[]" for run in RUNS)


@sink(
    "neptune",
    methods(FIELDS, ["append", "log"]),
    methods(["run[]", "*.run[]", "*_run[]", "*neptune*[]"], ["append", "log"]),
)
def append(value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`run["train/loss"].append(value)`, in older versions `.log(value)`."""
    yield Scalar(None, value)


@sink("neptune", methods(["neptune", "neptune.create_experiment()", "neptune.legacy"], ["log_metric", "send_metric"]))
def log_metric(log_name: Any, x: Any, y: Any = None, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log_metric(log_name, x, y)` of the older client: with two the second is the value, with three the third."""
    yield Scalar(log_name, x if y is None else y)


@sink("neptune", ["neptune_scale.*Run().log_metrics"])
def log_metrics(data: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(data, step)` of neptune_scale."""
    yield Record(data)


@sink("neptune", [run + "[]=" for run in (*RUNS, "neptune.Run()", "neptune.new.Run()") if "*" not in run])
def assign(key: Any, value: Any) -> Iterator[Scalar]:
    """`run["best/acc"] = value`."""
    yield Scalar(key, value)
