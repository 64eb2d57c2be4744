"""Taps around callees of sinks: what a call reports is read from its arguments as they are bound.

The tap is called in two steps, `tap(sites, callee)(arguments)()`: the first reads the arguments, the second is the call
itself, done by the script, so that no frame of ours stands between the two. The arguments are read before the call, for
the callee may change them or use them up, raise, or end the process: what the script handed over is what it reports.
"""

from __future__ import annotations

from functools import partial
from sys import _getframe

from ..sinks import Message, Record, Row, Scalar, Template, find_by_key
from ..sinks.kinds import FormatTemplate
from .annotations import TYPE_CHECKING, Any, Callable, Sequence
from .recorder import Recorder
from .values import label_numbers, read, read_record, read_row

if TYPE_CHECKING:
    from ..sinks.registry import Carried, Sink
    from .values import Numbers


def report(
    recorder: Recorder,
    sites: tuple[int, ...],
    label: object,
    callee: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Callable[[], Any]:
    """The first step: record the fields of the sites; returns the remaining call."""
    carried: dict[str, list[Carried]] = {}
    for site in sites:
        try:
            key, *parts = recorder.fields[site]
            if key not in carried:
                carried[key] = _find(key).carried(args, kwargs)
            for part in parts:
                recorder.numbers(site, _numbers(carried[key], part), label, _getframe(1))
        except Exception as error:
            recorder.fault("site %s" % site, error)
    return partial(callee, *args, **kwargs)


def _find(key: str) -> Sink:
    try:
        return find_by_key(key)
    except KeyError as unknown:
        from .copies import load_copy  # few have one

        try:
            load_copy(key.rpartition(".")[0])
        except OSError:
            raise unknown from None
        return find_by_key(key)


def _numbers(carried: Sequence[Carried], part: str) -> Numbers:
    """Numbers of an item or a slice of the arguments; items of a slice are labelled by position."""
    if ":" not in part:
        return _of_item(carried[int(part)]) if int(part) < len(carried) else []
    start, _, stop = part.partition(":")
    chosen = carried[int(start or 0) : int(stop) if stop else None]
    return [
        pair
        for index, item in enumerate(chosen)
        for pair in label_numbers(str(index) if isinstance(item, Message) else None, _of_item(item))
    ]


def _of_item(item: Carried) -> Numbers:
    if isinstance(item, Scalar):
        name = None if item.name is None else str(item.name)
        numbers = [] if isinstance(item.value, (list, tuple)) else label_numbers(name, read(item.value))
        return _prefix_names(item.prefix, numbers)
    if isinstance(item, Record):
        return _prefix_names(item.prefix, read_record(item.mapping))
    if isinstance(item, Row):
        return read_row(item.values)
    if isinstance(item, Message):
        return read(item.value)
    if isinstance(item, (Template, FormatTemplate)):
        arguments = tuple(item.arguments)
        by_name = item.named if isinstance(item, FormatTemplate) else {}
        numbers = read(arguments[0]) if len(arguments) == 1 else read_row(arguments)
        return numbers + read_record(by_name)
    return []


def _prefix_names(prefix: Any, numbers: Numbers) -> Numbers:
    return label_numbers(str(prefix) if prefix else None, numbers, "/")
