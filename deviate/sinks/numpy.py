"""Sink `numpy`: rows written as text."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Table
from .registry import sink


@sink("numpy", ["numpy.savetxt"])
def savetxt(fname: Any, X: Any, *rest: Any, **options: Any) -> Iterator[Table]:  # noqa: N803
    """`savetxt(fname, X, fmt, …)`."""
    yield Table(X)
