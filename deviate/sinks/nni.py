"""Sink `nni`: what a trial reports (order of arguments: 3.0)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar
from .registry import methods, sink

REPORTS = ("report_intermediate_result", "report_final_result")


@sink("nni", methods(["nni", "nni.trial"], REPORTS), methods(["*"], REPORTS))
def report(metric: Any) -> Iterator[Scalar]:
    """One value, without a name."""
    yield Scalar(None, metric)
