"""Sink `deviate`: what a script reports to deviate itself."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar
from .registry import sink


@sink("deviate", ["deviate.log"])
def log(name: Any, value: Any) -> Iterator[Scalar]:
    """`log(name, value)`."""
    yield Scalar(name, value)
