"""Sink `visdom`: points added to a line plot. The documentation names the arguments `Y` and `X`, in this order."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar
from .registry import sink


@sink("visdom", ["visdom.Visdom().line"], ["viz.line", "*.viz.line", "vis.line", "*.vis.line"])
def line(Y: Any, X: Any = None, *rest: Any, name: Any = None, **options: Any) -> Iterator[Scalar]:  # noqa: N803
    """`line(Y, X, win, env, opts, update, name)`: the value is an array, most often of one."""
    yield Scalar(name, Y)
