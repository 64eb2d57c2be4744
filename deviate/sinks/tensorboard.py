"""TensorBoard: scalars that are written when a call runs, and those of a TensorFlow 1 graph."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Record, Scalar, Summary
from .registry import declaring, given, methods, sink

reports = declaring(__name__)

# `graph-summary`: scalars of a TensorFlow 1 graph, whose values are known when the graph has run.
#
# Orders of arguments: `tf.compat.v1` of TensorFlow 2.21.


# `scalar(name, tensor, collections, family)`: a node of the graph, not a value.
reports(
    "name tensor *",
    Scalar,
    "graph-summary",
    "tensorflow.compat.v1.summary.scalar tensorflow.scalar_summary",
    "tf1.summary.scalar tf.compat.v1.summary.scalar tf.scalar_summary",
)


# `FileWriter.add_summary(summary, global_step)`: what running a merged summary gave.
reports(
    "summary *",
    Summary,
    "graph-summary",
    methods(["tensorflow.*FileWriter()", "tensorflow.*SummaryWriter()"], ["add_summary"]),
    "*.add_summary",
)


@sink("tensorboard", ["tensorflow.*Summary.Value"], ["*summary.value", "*summary.value.add"])
def value(*, tag: Any = None, simple_value: Any = None, node_name: Any = None, **others: Any) -> Iterator[Scalar]:
    """`tf.Summary.Value(tag=…, simple_value=…)`: a message made by hand, with a value of the script."""
    if simple_value is not None:
        yield Scalar(given(tag, node_name), simple_value)


# `tensorboard`: scalars that are written when the call runs.
#
# Orders of arguments: torch 2.13, tensorboardX 2.6, tensorboard_logger 0.1, flax 0.12, TensorFlow 2.21 and 1.15.


WRITERS = ("torch.*SummaryWriter()", "tensorboardX.*SummaryWriter()", "visualdl.*LogWriter()")


# `add_scalar(tag, scalar_value, global_step, walltime, …)`, and writers with other names for the first two.
reports("tag|name scalar_value|value *", Scalar, "tensorboard", methods(WRITERS, ["add_scalar"]), "*.add_scalar")


@sink("tensorboard", methods(WRITERS, ["add_scalars"]), ["*.add_scalars"])
def add_scalars(main_tag: Any, tag_scalar_dict: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`add_scalars(main_tag, tag_scalar_dict, global_step, walltime)`."""
    yield Record(tag_scalar_dict, prefix=main_tag)


# `add_hparams(hparam_dict, metric_dict, …)`: the second holds results.
reports("-hparam_dict metric_dict *", Record, "tensorboard", methods(WRITERS, ["add_hparams"]), "*.add_hparams")


reports("-tag text_string *", Message, "tensorboard", methods(WRITERS, ["add_text"]), "*writer.add_text")


reports(
    "name value *",
    Scalar,
    "tensorboard",
    "tensorboard_logger.log_value tensorboard_logger.Logger().log_value",
    "*.log_value *.scalar_summary",
)


reports("tag value *", Scalar, "tensorboard", "flax.*SummaryWriter().scalar", "*writer.scalar")


@sink(
    "tensorboard",
    [
        "tensorflow.summary.scalar",
        "tensorflow.compat.v2.summary.scalar",
        "tensorflow.contrib.summary.scalar",
        "tensorboard.plugins.scalar.summary_v2.scalar",
    ],
    ["tf.summary.scalar"],
)
def scalar(name: Any, data: Any = None, *rest: Any, tensor: Any = None, **options: Any) -> Iterator[Scalar]:
    """`tf.summary.scalar(name, data, step, description)` of TensorFlow 2; of 1 `(name, tensor)`, a graph's node."""
    number = given(data, tensor)
    if number is not None:
        yield Scalar(name, number)
