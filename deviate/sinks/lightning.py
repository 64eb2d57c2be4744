"""Sink `lightning`: modules and Fabric of Lightning, whose loggers and bars show the values (orders: 2.6).

`self.log` alone says too little; the analysis finds out that `self` is a LightningModule.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import given, methods, sink

OWNERS = (
    "lightning.*LightningModule()",
    "pytorch_lightning.*LightningModule()",
    "lightning.*Fabric()",
    "lightning_fabric.*Fabric()",
)
LOGGERS = ("lightning.*Logger()", "pytorch_lightning.*Logger()", "lightning_fabric.*Logger()")


@sink("lightning", methods(OWNERS, ["log"]), ["fabric.log", "*.fabric.log"])
def log(name: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log(name, value, …)`."""
    yield Scalar(name, value)


@sink("lightning", methods(OWNERS, ["log_dict"]), ["fabric.log_dict", "*.fabric.log_dict"])
def log_dict(dictionary: Any = None, *rest: Any, metrics: Any = None, **options: Any) -> Iterator[Record]:
    """`log_dict(dictionary, …)` of a module, `log_dict(metrics, step)` of Fabric."""
    logged = given(dictionary, metrics)
    if logged is not None:
        yield Record(logged)


@sink("lightning", methods(LOGGERS, ["log_metrics"]))
def log_metrics(metrics: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`log_metrics(metrics, step)` of every logger."""
    yield Record(metrics)
