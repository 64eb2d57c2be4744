"""Sink `azureml`: runs of Azure Machine Learning's first SDK."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar
from .registry import Carried, by_keyword, methods, sink

RUNS = ("azureml.*get_context()", "azureml.*start_logging()", "azureml.*Run()")


@sink("azureml", methods(RUNS, ["log"]))
def log(name: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log(name, value, description, step)`."""
    yield Scalar(name, value)


@sink("azureml", methods(RUNS, ["log_row"]), ["*run.log_row"])
def log_row(name: Any, description: Any = None, **values: Any) -> Iterator[Carried]:
    """`log_row(name, description, **values)`."""
    yield from by_keyword(values)
