"""Compares the traces of two runs process by process: the first difference, its process, and its phase of a step."""

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from deviate.diverge.findings import PHASES, Difference, Phase, Rung, RungFindings
from deviate.diverge.traces import NO_DIGEST, Head, Records, Trace, TraceRecord
from deviate.diverge.ulps import is_within, value_ulps
from deviate.model.places import place_text

LOOK_AHEAD = 200
"""Number of records in which to search for an extra record, after the first difference."""
COLLECTIVES = ("c10d.", "_c10d_functional.", "c10d_functional.")
"""Prefixes of the names of collective operations, which exchange numbers between ranks."""
NO_TRACE = "no process of this rank left a trace"
Numbers = npt.NDArray[np.int64]
OF_KIND: dict[str, Phase] = {
    "weights": "initial",
    "state": "random",
    "batch": "data",
    "forward": "forward",
    "module": "forward",
    "loss": "loss",
    "module-gradient": "backward",
    "backward": "backward",
    "gradient": "backward",
    "update": "update",
    "metric": "metric",
}
AFTER_GRADIENTS = frozenset({"gradient", "update"})
"""Kinds after which the operations of a step are those of the optimizer."""
AFTER_LOSS = frozenset({"loss", "module-gradient"})
IN_BACKWARD = frozenset({"module-gradient", "gradient", "update"})
"""Kinds before which, after a loss, operations belong to the backward pass."""
BEFORE_BATCH = frozenset({"", "state", "weights"})
"""Kinds before the batches of a step; empty before its first operations."""
BEFORE_PASSES = frozenset({"state", "batch"})
"""Kinds of records at the start of a step."""

Rows = Mapping[str, Counter[int]]
"""For each name of batches: the number of occurrences of each row in a run, by checksum."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first difference between two traces.

    Attributes:
        first, second: index of the record in each trace; in a run without the record, the index of its next record or
            of its end.
        only_in: the only run that has the record; None if both have it with different numbers.
    """

    first: int
    second: int
    only_in: Literal[1, 2] | None = None


def find_first_difference(
    first: Records, second: Records, is_near: Callable[[TraceRecord, TraceRecord], bool] | None = None
) -> FirstDifference | None:
    """The first difference; None if both traces are equal to their ends.

    Records are compared by position: first step, kind and name, then form and digest. A record without a digest in
    either run has no numbers to compare. If both the numbers and the source lines differ, the program took a different
    path.

    Args:
        is_near: whether two records with different digests count as equal.
    """
    n = min(len(first), len(second))
    names = _number_heads(first, second, lambda head: head[:2])
    forms = _number_heads(first, second, lambda head: head[2])
    steps = np.asarray(first.steps), np.asarray(second.steps)
    digests = np.asarray(first.digests)[:n], np.asarray(second.digests)[:n]
    is_other = (names[0][:n] != names[1][:n]) | (steps[0][:n] != steps[1][:n])
    is_unequal = (digests[0] != digests[1]) & (digests[0] != NO_DIGEST) & (digests[1] != NO_DIGEST)
    rows: Iterable[int] = np.flatnonzero(is_other | is_unequal | (forms[0][:n] != forms[1][:n])).tolist()
    if is_near is not None:
        rows = (row for row in rows if is_other[row] or not is_near(first[row], second[row]))
    at = next(iter(rows), n)
    if at == len(first) == len(second):
        return None
    if at == len(first):
        return FirstDifference(at, at, 2)
    if at == len(second):
        return FirstDifference(at, at, 1)
    places = _number_heads(first, second, lambda head: head[3] and (head[3].file, head[3].line))
    if not is_other[at] and (is_near is not None or places[0][at] == places[1][at]):
        return FirstDifference(at, at)
    lines = places if is_near is None else (np.zeros(len(first)), np.zeros(len(second)))  # of another environment
    ahead = slice(at, at + LOOK_AHEAD)
    mine, theirs = (
        list(zip(steps[run][ahead].tolist(), names[run][ahead].tolist(), lines[run][ahead].tolist(), strict=True))
        for run in (0, 1)
    )
    return _extra(first, second, at, SequenceMatcher(None, mine, theirs, autojunk=False), is_near)


def _extra(
    first: Records,
    second: Records,
    at: int,
    matcher: SequenceMatcher[tuple[int, int, int]],
    is_near: Callable[[TraceRecord, TraceRecord], bool] | None,
) -> FirstDifference:
    """The record that one run lacks, or a difference between records of both runs before it."""
    for tag, start, end, begin, _ in matcher.get_opcodes():
        if tag != "equal":
            return FirstDifference(at + start, at + begin, 2 if tag == "insert" else 1)
        for ahead in range(end - start):
            row, other_row = at + start + ahead, at + begin + ahead
            digests = first.digests[row], second.digests[other_row]
            if digests[0] == digests[1] or NO_DIGEST in digests:
                continue
            if is_near is None or not is_near(first[row], second[other_row]):
                return FirstDifference(row, other_row)
    return FirstDifference(at, at)


def _number_heads(first: Records, second: Records, part: Callable[[Head], Hashable]) -> tuple[Numbers, Numbers]:
    """Numbers that identify the heads of records, equal in both traces."""
    numbers: dict[Hashable, int] = {}

    def column(records: Records) -> Numbers:
        table = np.asarray([numbers.setdefault(part(head), len(numbers)) for head in records.heads], dtype=np.int64)
        of_records: Numbers = table[np.asarray(records.head)] if records.heads else table
        return of_records

    return column(first), column(second)


def keep_shared(first: Records, second: Records) -> tuple[Records, Records]:
    """Both traces without records whose kind and name do not occur in the other: features of one environment."""
    names = [{head[:2] for head in records.heads} for records in (first, second)]
    return first.of_names(names[1]), second.of_names(names[0])


def without_idle(first: Sequence[Trace], second: Sequence[Trace]) -> tuple[tuple[Trace, ...], tuple[Trace, ...]]:
    """The traces without records of generators that are idle in both runs, and differ in state.

    If a script seeds one library only, the generators of others start in a different state in each run. A generator
    with the same state at each update provided no numbers in between; earlier draws would show in weights and batches.
    """
    states = [{trace.rank: _states(trace.records) for trace in run} for run in (first, second)]

    def kept(trace: Trace) -> Trace:
        mine, theirs = (of_run.get(trace.rank, {}) for of_run in states)
        idle = {
            name
            for name in mine.keys() & theirs.keys()
            if all(len(set(of_run[name])) == 1 < len(of_run[name]) for of_run in (mine, theirs))
            and mine[name][0] != theirs[name][0]
        }
        records = trace.records
        names = {head[:2] for head in records.heads if head[0] != "state" or head[1] not in idle}
        return replace(trace, records=records.of_names(names)) if idle else trace

    return tuple(map(kept, first)), tuple(map(kept, second))


def _states(records: Records) -> dict[str, list[int]]:
    """Checksums of the states of each generator, in order."""
    numbers = {number: head[1] for number, head in enumerate(records.heads) if head[0] == "state"}
    states: dict[str, list[int]] = {}
    for number, digest in zip(records.head, records.digests, strict=True):
        if number in numbers:
            states.setdefault(numbers[number], []).append(digest)
    return states


def compare_traces(
    first: Sequence[Trace], second: Sequence[Trace], rung: Rung, *, tolerance_ulps: int = 0
) -> RungFindings:
    """Compare the processes of two runs by rank, in any order of the traces.

    If several ranks diverge, the first one has the smallest step; within a step the earliest phase, and then the
    earliest record, because all ranks execute the same step. A rank whose first difference arrived through a collective
    operation, such as averaged gradients, comes after ranks whose difference did not.

    The result has `rung`, `n_steps`, `n_compared`, `first`, `until`, `difference` and `by_rank`; the caller sets the
    rest. A difference of phase `program` has its pass in `more["during"]`.

    Args:
        tolerance_ulps: differences up to this count as equal, for two environments, see `sums`; records of one
            environment only, such as the generator of a device, are then ignored.
    """
    mine, theirs = ({trace.rank: trace for trace in run} for run in (first, second))
    rows = rows_of(first), rows_of(second)
    differences: list[tuple[tuple[int, ...], Difference]] = []
    n_compared = 0
    for rank in sorted(mine.keys() | theirs.keys()):
        one, other = mine.get(rank), theirs.get(rank)
        if one is None or other is None:
            only_in: Literal[1, 2] = 2 if one is None else 1
            missing = Difference(
                rung, "program", None, None, "", "", rank=rank, only_in=only_in, instead=NO_TRACE, is_other_gone=True
            )
            differences.append(((-1,), missing))
            continue
        pair = one.records, other.records
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
        difference=differences[0][1] if differences else None,
        by_rank=tuple(sorted((difference for _, difference in differences), key=lambda difference: difference.rank))
        if len(mine | theirs) > 1
        else (),
    )


def _order(difference: Difference, records: Records, at: FirstDifference) -> tuple[int, ...]:
    """Sort key for the first differences of several ranks."""
    index = at.second if at.only_in == 2 else at.first
    begin = index
    while begin and records.steps[begin - 1] == difference.step:
        begin -= 1
    is_handed_on = difference.kind == "gradient" or difference.name.startswith(COLLECTIVES)
    phase = difference.more.get("during", difference.phase)
    return difference.step or 0, int(is_handed_on), [str(name) for name in PHASES].index(str(phase)), index - begin


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
    elif other is not None and record.value is not None and other.value is not None:
        values = record.value, other.value
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
        ulps=None if values is None else value_ulps(*values),
        only_in=at.only_in,
        instead=instead,
        n_equal=at.first,
        more=more,
        is_other_gone=at.only_in is not None and other is None,
    )


def _end_of(trace: Trace) -> str:
    ending = "its process ended" if trace.is_whole else "its process was terminated"
    return f"{ending} after {trace.n_steps} update{'s' * (trace.n_steps != 1)}"


def _describe_record(record: TraceRecord) -> str:
    at = "" if record.place is None else f" ({place_text(record.place.file, record.place.line)})"
    return f"{' '.join(dict.fromkeys((record.kind, record.name)))}{at}"  # a loss is called loss


# The phase of a step that a record belongs to: data, forward or backward pass, or update.


def phase_of(records: Records, index: int) -> Phase:
    """The phase of a record, from its kind; for operations, from the neighbouring records in its step.

    Operations after the gradients of their step belong to the update. Operations of a backward pass are marked in the
    trace; operations between a loss and its gradients, which clip or scale them, count as backward too. All others
    belong to the forward pass.
    """
    record = records[index]
    if record.kind == "weights" and record.step > 0:
        return "update"  # differences at the start of the traced window come from an earlier update
    if record.kind != "operation":
        return OF_KIND.get(record.kind, "program")
    if record.more.get("backward"):
        return "backward"
    before = _kind_near(records, index, range(index - 1, -1, -1))
    if before in AFTER_GRADIENTS:
        return "update"
    if before in AFTER_LOSS and _kind_near(records, index, range(index + 1, len(records))) in IN_BACKWARD:
        return "backward"
    return "forward"


def phase_in_both(pair: tuple[Records, Records], places: tuple[int, int], row: int, rows: tuple[Rows, Rows]) -> Phase:
    """The phase of a record that differs, or that only one run has.

    Operations before the batches of their step create data, weights or random numbers, possibly for later steps: their
    phase is that of the first following record that differs. The same holds for operations after the batches, as of a
    loader that prefetches, if that record is at the start of a later step.

    Args:
        places: index of the record in each run, or of the record that a run has instead.
        row: the run whose record is meant.
    """
    records, index = pair[row], places[row]
    record = records[index]
    if record.kind == "operation" and (outcome := _outcome(pair)) is not None:
        is_ahead = outcome[0].step > record.step and outcome[0].kind in BEFORE_PASSES
        is_early = _kind_near(records, index, range(index - 1, -1, -1)) in BEFORE_BATCH
        if is_early or (is_ahead and not record.more.get("backward")):
            is_batch = outcome[0].kind == "batch"
            return data_or_order(*outcome, rows) if is_batch else OF_KIND.get(outcome[0].kind, "forward")
    if record.kind == "batch" and places[1 - row] < len(pair[1 - row]):
        other = pair[1 - row][places[1 - row]]
        if (record.kind, record.name) == (other.kind, other.name):
            return data_or_order(*((record, other) if row == 0 else (other, record)), rows)
    return phase_of(records, index)


def _outcome(pair: tuple[Records, Records]) -> tuple[TraceRecord, TraceRecord] | None:
    """The first record that is not an operation and differs between the runs."""
    names = {head[:2] for records in pair for head in records.heads if head[0] != "operation"}
    first, second = (records.of_names(names) for records in pair)
    at = find_first_difference(first, second)
    return None if at is None or at.only_in is not None else (first[at.first], second[at.second])


def _kind_near(records: Records, index: int, places: range) -> str:
    """Kind of the nearest record in the same step that is not an operation."""
    step = records.steps[index]
    for place in places:
        if records.steps[place] != step:
            return ""
        kind = records.heads[records.head[place]][0]
        if kind != "operation":
            return kind
    return ""


def rows_of(traces: Sequence[Trace]) -> Rows:
    """Rows of all batches in the traces of a run."""
    row_counts: dict[str, Counter[int]] = {}
    for trace in traces:
        records = trace.records
        for head, more in zip(records.head, records.more, strict=True):
            if more and "rows" in records.mores[more]:
                row_counts.setdefault(records.heads[head][1], Counter()).update(_rows(records.mores[more]))
    return row_counts


def data_or_order(record: TraceRecord, other: TraceRecord, rows: tuple[Rows, Rows]) -> Phase:
    """`order` if both batches have the same examples, or examples that were exchanged with other batches.

    An exchanged example is elsewhere in the traced window of both runs; a changed example is nowhere in the other run.
    """
    own_rows, other_rows = _rows(record.more), _rows(other.more)
    if own_rows == other_rows or record.form != other.form:  # batches with rows that have no checksum, or without rows
        return "data"
    mine, theirs = Counter(own_rows), Counter(other_rows)
    if mine == theirs:
        return "order"
    name, none = record.name, Counter[int]()
    all_mine, all_theirs = rows[0].get(name, none), rows[1].get(name, none)
    moved = (mine - theirs) - (all_mine - all_theirs), (theirs - mine) - (all_theirs - all_mine)
    return "order" if all(moved) else "data"


def _rows(more: Mapping[str, object]) -> list[int]:
    rows = more.get("rows")
    return list(rows) if isinstance(rows, list | array) else []
