"""Sink `tracker`: methods that many experiment trackers share, for receivers whose type cannot be known.

Lightning's and Composer's loggers, polyaxon, sagemaker, fairseq's `metrics`, detectron2's event storage and home-made
classes that follow them have these methods.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Scalar
from .registry import Carried, by_keyword, given, methods, sink

SCALARS = ("log_metric", "log_scalar", "put_scalar", "update_scalar")
OF_LIBRARIES = methods(
    ["fairseq.*metrics", "detectron2.*get_event_storage()", "detectron2.*EventStorage()", "mmengine.*()"], SCALARS
)


@sink("tracker", OF_LIBRARIES, methods(["*"], SCALARS))
def log_metric(
    name: Any = None,
    value: Any = None,
    *rest: Any,
    key: Any = None,
    metric: Any = None,
    metric_name: Any = None,
    val: Any = None,
    **options: Any,
) -> Iterator[Scalar]:
    """Name and value first, whatever they are called."""
    number = given(value, val)
    if number is not None:
        yield Scalar(given(name, key, metric, metric_name), number)


@sink("tracker", (), ["*.log_metrics"])
def log_metrics(
    mapping: Any = None,
    *rest: Any,
    metrics: Any = None,
    data: Any = None,
    dic: Any = None,
    metrics_dict: Any = None,
    step: Any = None,
    epoch: Any = None,
    timestamp: Any = None,
    **values: Any,
) -> Iterator[Carried]:
    """A mapping first, whatever it is called, or every value under its own keyword."""
    record = given(mapping, metrics, data, dic, metrics_dict)
    if record is not None:
        yield Record(record)
    else:
        yield from by_keyword(values)


@sink(
    "tracker",
    ["detectron2.*get_event_storage().put_scalars", "detectron2.*EventStorage().put_scalars"],
    ["*.put_scalars"],
)
def put_scalars(*, smoothing_hint: Any = None, cur_iter: Any = None, **values: Any) -> Iterator[Carried]:
    """Every value under its own keyword."""
    yield from by_keyword(values)


@sink("tracker", ["fairseq.*progress_bar().log", "fairseq.*progress_bar().print"], ["*tracker.log", "progress.log"])
def log(values: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """A mapping first."""
    yield Record(values)
