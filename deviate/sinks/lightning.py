"""Sink `lightning`: what modules of Lightning log (orders: 2.6). Fabric and loggers are trackers like others.

`self.log` alone says too little; the analysis finds out that `self` is a LightningModule. A call in a step is no report
and gets no tap: the adapter of Lightning records what the trainer makes of all calls of an epoch.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import methods, sink

OWNERS = ("lightning.*LightningModule()", "pytorch_lightning.*LightningModule()")
FABRIC = ("lightning.*Fabric()", "lightning_fabric.*Fabric()")
LOGGERS = ("lightning.*Logger()", "pytorch_lightning.*Logger()", "lightning_fabric.*Logger()")


@sink("lightning", methods(OWNERS, ["log"]))
def log(name: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log(name, value, …)`."""
    yield Scalar(name, value)


@sink("lightning", methods(OWNERS, ["log_dict"]))
def log_dict(dictionary: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_dict(dictionary, …)`."""
    yield Record(dictionary)


@sink("tracker", methods(FABRIC, ["log"]), ["fabric.log", "*.fabric.log"])
def log_of_fabric(name: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log(name, value, step)`."""
    yield Scalar(name, value)


@sink(
    "tracker",
    [*methods(FABRIC, ["log_dict"]), *methods(LOGGERS, ["log_metrics"])],
    ["fabric.log_dict", "*.fabric.log_dict"],
)
def log_metrics(metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_dict(metrics, step)` of Fabric, `log_metrics(metrics, step)` of every logger."""
    yield Record(metrics)
