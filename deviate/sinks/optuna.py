"""Sink `optuna`: intermediate values of a trial (order of arguments: 5.0)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar
from .registry import sink


@sink(
    "optuna", ["optuna.*Trial().report", "optuna.*.ask().report"], ["trial.report", "*.trial.report", "*_trial.report"]
)
def report(value: Any, step: Any = None) -> Iterator[Scalar]:
    """`report(value, step)`: one value, without a name."""
    yield Scalar(None, value)
