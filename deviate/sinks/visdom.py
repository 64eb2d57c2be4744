"""Sink `visdom`: points added to a line plot, and texts. The documentation names the arguments in these orders."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Scalar
from .registry import given, sink


@sink("visdom", ["visdom.Visdom().line"], ["viz.line", "*.viz.line", "vis.line", "*.vis.line"])
def line(
    Y: Any,  # noqa: N803
    X: Any = None,  # noqa: N803
    win: Any = None,
    *rest: Any,
    name: Any = None,
    **options: Any,
) -> Iterator[Scalar]:
    """`line(Y, X, win, env, opts, update, name)`: the value is an array, most often of one; a window has a name too."""
    yield Scalar(given(name, win), Y)


@sink("visdom", ["visdom.Visdom().text"], ["viz.text", "*.viz.text", "vis.text", "*.vis.text"])
def text(text: Any, *rest: Any, **options: Any) -> Iterator[Message]:
    """`text(text, win, env, opts, append)`."""
    yield Message(text)
