"""Compares the inputs of two runs, place by place, and says which of them came before the first difference."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from deviate.diverge.findings import Difference, InputDifference
from deviate.diverge.traces import InputEvent, Trace

Key = tuple[str, str, int]
"""Source, file and line."""


def compare_inputs(
    first: Sequence[Trace], second: Sequence[Trace], difference: Difference | None
) -> tuple[InputDifference, ...]:
    """The first differing input of each source and place, in the order in which they entered, rank by rank.

    Inputs are compared in the order in which a place had them; those of threads in any order, as their order is chance.

    Args:
        difference: the first one of the runs, in the traces that are compared here; None for equal runs.
    """
    differences: list[tuple[int, InputDifference]] = []
    for rank, _, mine, theirs in _places(first, second):
        event, instead = _first_pair(mine, theirs)
        either = event or instead
        if either is None:
            continue
        item = InputDifference(
            source=either.source,
            call=either.call,
            place=either.place,
            step=either.step,
            main_step=either.main_step,
            shown=("" if event is None else event.shown, "" if instead is None else instead.shown),
            only_in=2 if event is None else 1 if instead is None else None,
            rank=rank,
            is_upstream=difference is not None and rank == difference.rank and _is_before(either, difference),
        )
        differences.append((either.n_before, item))
    differences.sort(key=lambda pair: (pair[1].step, pair[1].rank, pair[0]))
    return tuple(item for _, item in differences)


def _places(
    first: Sequence[Trace], second: Sequence[Trace]
) -> Iterator[tuple[int, Key, Sequence[InputEvent], Sequence[InputEvent]]]:
    """The inputs of both runs at each place, in each process that both have."""
    theirs = {trace.rank: trace.inputs for trace in second}
    for trace in (trace for trace in first if trace.rank in theirs):
        mine, others = _by_place(trace.inputs), _by_place(theirs[trace.rank])
        for key in {**mine, **others}:
            yield trace.rank, key, mine.get(key, []), others.get(key, [])


def _by_place(events: Sequence[InputEvent]) -> dict[Key, list[InputEvent]]:
    places: dict[Key, list[InputEvent]] = {}
    for event in events:
        places.setdefault((event.source, event.place.file, event.place.line), []).append(event)
    return places


def _first_pair(
    mine: Sequence[InputEvent], theirs: Sequence[InputEvent]
) -> tuple[InputEvent | None, InputEvent | None]:
    """The events of the first difference at a place; none if there is none."""
    events = (*mine, *theirs)
    if any(event.is_in_thread for event in events):
        if any(event.n_folded for event in events) and _total(mine) == _total(theirs):
            return None, None
        mine, theirs = (sorted(events, key=lambda event: (event.call, event.digest or 0)) for events in (mine, theirs))
    for event, instead in zip_longest(mine, theirs):
        if event is None or instead is None or event.digest != instead.digest:
            return event, instead
    return None, None


def _total(events: Sequence[InputEvent]) -> tuple[int, int]:
    """Number and sum of the values of a place, in which it does not matter which of them are folded."""
    n_values = sum(event.n_folded or 1 for event in events)
    return n_values, sum(event.digest or 0 for event in events) % 2**32


def _is_before(event: InputEvent, difference: Difference) -> bool:
    """Whether an input entered before the first difference: by records where it is one of them, else by steps."""
    if difference.kind == "metric" or difference.step is None:
        if event.main_step is None or difference.main_step is None:
            return True
        return event.main_step <= difference.main_step
    return event.step < difference.step or event.n_before <= difference.n_equal


def equal_inputs(first: Sequence[Trace], second: Sequence[Trace]) -> frozenset[Key]:
    """Source, file and line of the inputs that are equal in both runs, in every process that has them."""
    equal: set[Key] = set()
    different: set[Key] = set()
    for _, key, mine, others in _places(first, second):
        is_equal = bool(mine) and _first_pair(mine, others) == (None, None)
        is_compared = any(event.digest is not None for event in mine)
        (equal if is_equal and is_compared else different).add(key)
    return frozenset(equal - different)


def idle_lines(traces: Iterator[Trace]) -> frozenset[tuple[str, int]]:
    """Lines that a trace watched, and that no process executed."""
    read = list(traces)
    return frozenset(line for trace in read for line in trace.watched) - {line for trace in read for line in trace.ran}
