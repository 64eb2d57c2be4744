"""Sink `graph-summary`: scalars of a TensorFlow 1 graph, whose values are known when the graph has run.

Orders of arguments: `tf.compat.v1` of TensorFlow 2.21.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Scalar, Summary
from .registry import given, methods, sink


@sink(
    "graph-summary",
    ["tensorflow.compat.v1.summary.scalar", "tensorflow.scalar_summary"],
    ["tf1.summary.scalar", "tf.compat.v1.summary.scalar", "tf.scalar_summary"],
)
def scalar(name: Any, tensor: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`scalar(name, tensor, collections, family)`: a node of the graph, not a value."""
    yield Scalar(name, tensor)


@sink(
    "graph-summary",
    methods(["tensorflow.*FileWriter()", "tensorflow.*SummaryWriter()"], ["add_summary"]),
    ["*.add_summary"],
)
def add_summary(summary: Any, *rest: Any, **options: Any) -> Iterator[Summary]:
    """`FileWriter.add_summary(summary, global_step)`: what running a merged summary gave."""
    yield Summary(summary)


@sink("tensorboard", ["tensorflow.*Summary.Value"], ["*summary.value", "*summary.value.add"])
def value(*, tag: Any = None, simple_value: Any = None, node_name: Any = None, **others: Any) -> Iterator[Scalar]:
    """`tf.Summary.Value(tag=…, simple_value=…)`: a message made by hand, with a value of the script."""
    if simple_value is not None:
        yield Scalar(given(tag, node_name), simple_value)
