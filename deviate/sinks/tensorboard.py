"""Sink `tensorboard`: scalars that are written when the call runs.

Orders of arguments: torch 2.13, tensorboardX 2.6, tensorboard_logger 0.1, flax 0.12, TensorFlow 2.21 and 1.15.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Record, Scalar
from .registry import given, methods, sink

WRITERS = ("torch.*SummaryWriter()", "tensorboardX.*SummaryWriter()", "visualdl.*LogWriter()")


@sink("tensorboard", methods(WRITERS, ["add_scalar"]), ["*.add_scalar"])
def add_scalar(
    tag: Any = None, scalar_value: Any = None, *rest: Any, name: Any = None, value: Any = None, **options: Any
) -> Iterator[Scalar]:
    """`add_scalar(tag, scalar_value, global_step, walltime, …)`, and writers with other names for the first two."""
    number = given(scalar_value, value)
    if number is not None:
        yield Scalar(given(tag, name), number)


@sink("tensorboard", methods(WRITERS, ["add_scalars"]), ["*.add_scalars"])
def add_scalars(main_tag: Any, tag_scalar_dict: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`add_scalars(main_tag, tag_scalar_dict, global_step, walltime)`."""
    yield Record(tag_scalar_dict, prefix=main_tag)


@sink("tensorboard", methods(WRITERS, ["add_hparams"]), ["*.add_hparams"])
def add_hparams(hparam_dict: Any, metric_dict: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`add_hparams(hparam_dict, metric_dict, …)`: the second holds results."""
    yield Record(metric_dict)


@sink("tensorboard", methods(WRITERS, ["add_text"]), ["*writer.add_text"])
def add_text(tag: Any, text_string: Any, *rest: Any, **options: Any) -> Iterator[Message]:
    """`add_text(tag, text_string, global_step, walltime)`."""
    yield Message(text_string)


@sink(
    "tensorboard",
    ["tensorboard_logger.log_value", "tensorboard_logger.Logger().log_value"],
    ["*.log_value", "*.scalar_summary"],
)
def log_value(name: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`log_value(name, value, step)`."""
    yield Scalar(name, value)


@sink("tensorboard", ["flax.*SummaryWriter().scalar"], ["*writer.scalar"])
def flax_scalar(tag: Any, value: Any, *rest: Any, **options: Any) -> Iterator[Scalar]:
    """`SummaryWriter.scalar(tag, value, step)` of flax.metrics.tensorboard."""
    yield Scalar(tag, value)


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
