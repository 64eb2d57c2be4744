"""Compares two runs process by process: the first difference, and the process in which it occurred first."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from deviate.diverge.align import FirstDifference, find_first_difference, keep_shared
from deviate.diverge.columns import Records, columns
from deviate.diverge.findings import Difference, Rung, RungFindings, Trace, TraceRecord
from deviate.diverge.phases import PHASES, Rows, phase_in_both, rows_of
from deviate.diverge.sums import is_within

COLLECTIVES = ("c10d.", "_c10d_functional.", "c10d_functional.")
"""Beginnings of names of operations through which ranks hand their numbers to each other."""
NO_TRACE = "no process of this rank left a trace"


def compare_traces(
    first: Sequence[Trace], second: Sequence[Trace], rung: Rung, *, tolerance_ulps: int = 0
) -> RungFindings:
    """Lay the processes of two runs side by side, by rank, in whatever order they come.

    Of several ranks that part, the first one is that of the smallest step; within a step that of the earliest phase,
    and then of the earliest record, for ranks do the same in a step; one whose first difference came to it through a
    collective operation, as gradients after they were averaged do, stands behind those whose did not. Ranks that part
    in the very same place are named in `more["ranks"]`, the lowest first: nobody can tell which was first.

    Of what comes back, `rung`, `n_steps`, `n_compared`, `first`, `until`, `difference` and `by_rank` are set; the rest
    knows who carried out the runs. A difference of program tells in `more["during"]` the phase in which it came, and in
    `more["then"]` the first numbers that differ after it, where both runs have them.

    Args:
        tolerance_ulps: what is still taken for equal in two environments, see `sums`; what one of them alone has
            anywhere, such as the generator of a device, is left out then.
    """
    mine, theirs = ({trace.rank: trace for trace in run} for run in (first, second))
    rows = rows_of(first), rows_of(second)
    differences: list[tuple[tuple[int, ...], Difference]] = []
    n_compared = 0
    for rank in sorted(mine.keys() | theirs.keys()):
        one, other = mine.get(rank), theirs.get(rank)
        if one is None or other is None:
            differences.append(((-1,), _missing(rung, rank, is_first=one is not None)))
            continue
        pair = columns(one.records), columns(other.records)
        pair = keep_shared(*pair) if tolerance_ulps else pair
        at = find_first_difference(*pair, partial(is_within, tolerance_ulps=tolerance_ulps) if tolerance_ulps else None)
        n_compared += len(pair[0]) if at is None else at.first
        if at is not None:
            difference = _difference(rung, (one, other), pair, at, rows)
            differences.append((_order(difference, pair[at.only_in == 2], at), difference))
    differences.sort(key=lambda item: (item[0], item[1].rank))
    both = [(mine[rank], theirs[rank]) for rank in mine.keys() & theirs.keys()]
    return RungFindings(
        rung=rung,
        n_steps=min((min(one.n_steps, other.n_steps) for one, other in both), default=0),
        n_compared=n_compared,
        first=min((one.first for one, _ in both), default=0),
        until=max((one.until for one, _ in both if one.until is not None), default=None),
        difference=_first_of(differences),
        by_rank=tuple(sorted((difference for _, difference in differences), key=lambda difference: difference.rank))
        if len(mine | theirs) > 1
        else (),
    )


def _first_of(differences: Sequence[tuple[tuple[int, ...], Difference]]) -> Difference | None:
    if not differences:
        return None
    order, difference = differences[0]
    ranks = [difference.rank for its, difference in differences if its == order]
    return difference if len(ranks) == 1 else replace(difference, more={**difference.more, "ranks": ranks})


def _order(difference: Difference, records: Records, at: FirstDifference) -> tuple[int, ...]:
    """Sort key for the first differences of several ranks."""
    index = at.second if at.only_in == 2 else at.first
    begin = index
    while begin and records.steps[begin - 1] == difference.step:
        begin -= 1
    is_handed_on = difference.kind == "gradient" or difference.name.startswith(COLLECTIVES)
    phase = difference.more.get("during", difference.phase)
    return difference.step or 0, int(is_handed_on), [str(name) for name in PHASES].index(str(phase)), index - begin


def _missing(rung: Rung, rank: int, *, is_first: bool) -> Difference:
    return Difference(
        rung, "program", None, None, kind="", name="", rank=rank, only_in=1 if is_first else 2, instead=NO_TRACE
    )


def _difference(
    rung: Rung, traces: tuple[Trace, Trace], pair: tuple[Records, Records], at: FirstDifference, rows: tuple[Rows, Rows]
) -> Difference:
    side, other_side = (1, 0) if at.only_in == 2 else (0, 1)
    places = at.first, at.second
    record = pair[side][places[side]]
    other = pair[other_side][places[other_side]] if places[other_side] < len(pair[other_side]) else None
    phase, more, instead = phase_in_both(pair, places, side, rows), dict(record.more), ""
    values = None
    if at.only_in is not None:
        more["during"], phase = phase, "program"
        instead = _end_of(traces[other_side]) if other is None else _describe_record(other)
        if at.then is not None:
            more["then"] = _then(pair, at.then, rows)
    elif other is not None:
        if record.form != other.form:
            more["forms"] = [record.form, other.form]
        values = _values(record, other)
    more.pop("rows", None)
    return Difference(
        rung=rung,
        phase=phase,
        step=record.step,
        main_step=record.main_step,
        kind=record.kind,
        name=record.name,
        ordinal=record.ordinal,
        rank=traces[0].rank,
        module=record.name if record.kind.startswith("module") else str(record.more.get("module") or ""),
        form=record.form,
        place=record.place,
        values=values,
        only_in=at.only_in,
        instead=instead,
        n_equal=at.first,
        more=more,
    )


def _values(record: TraceRecord, other: TraceRecord) -> tuple[float, float] | None:
    one, its = record.more.get("value"), other.more.get("value")
    return (float(one), float(its)) if isinstance(one, int | float) and isinstance(its, int | float) else None


def _end_of(trace: Trace) -> str:
    ending = "its process ended" if trace.is_whole else "its process was cut off"
    return f"{ending} after {trace.n_steps} update{'s' * (trace.n_steps != 1)}"


def _describe_record(record: TraceRecord) -> str:
    at = "" if record.place is None else f" ({record.place.file}:{record.place.line})"
    return f"{' '.join(dict.fromkeys((record.kind, record.name)))}{at}"  # a loss is called loss


def _then(pair: tuple[Records, Records], places: tuple[int, int], rows: tuple[Rows, Rows]) -> dict[str, object]:
    record = pair[0][places[0]]
    return {
        "step": record.step,
        "phase": phase_in_both(pair, places, 0, rows),
        "kind": record.kind,
        "name": record.name,
        "ordinal": record.ordinal,
        "module": record.more.get("module", ""),
    }
