"""Taps around callees of trackers: names that only a run knows are read with their values, as arguments are bound.

The tap is called in two steps, `tap(sites, callee)(arguments)()`: the first reads the arguments, the second is the call
itself, done by the script, so that no frame of ours stands between the two. The arguments are read before the call, for
the callee may change them or use them up, raise, or end the process: what the script handed over is what it reports.
"""

from __future__ import annotations

from functools import partial
from sys import _getframe

from ..sinks import Record, Scalar, find_by_key
from .annotations import TYPE_CHECKING, Any, Callable
from .recorder import Recorder
from .values import label_numbers, read, read_record

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
            key, place = recorder.fields[site]
            if key not in carried:
                carried[key] = _find(key).carried(args, kwargs)
            if int(place) < len(carried[key]):
                recorder.numbers(site, _numbers(carried[key][int(place)]), label, _getframe(1))
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


def _numbers(item: Carried) -> Numbers:
    """The numbers of one argument, by the names that the call gives them."""
    if isinstance(item, Record):
        numbers = read_record(item.mapping)
    elif isinstance(item, Scalar) and not isinstance(item.value, (list, tuple)):
        numbers = label_numbers(None if item.name is None else str(item.name), read(item.value))
    else:
        return []
    return label_numbers(str(item.prefix) if item.prefix else None, numbers, "/")
