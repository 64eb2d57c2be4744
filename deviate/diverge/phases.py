"""The phase of a step that a record belongs to: data, forward or backward pass, or update."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from deviate.diverge.findings import Phase, Trace, TraceRecord
from deviate.diverge.traces import NO_DIGEST, Records, columns

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
"""Kinds between which operations belong to the backward pass."""
BEFORE_BATCH = frozenset({"", "state", "weights"})
"""Kinds before the batches of a step; nothing at all stands before its first operations."""
BEFORE_PASSES = frozenset({"state", "batch"})
"""Kinds of what a step begins with."""

Rows = Mapping[str, Counter[int]]
"""How often each row of the batches of a name occurs in a run, by its checksum."""


def phase_of(records: Records, index: int) -> Phase:
    """The phase of a record, from its kind; for operations, from the neighbouring records in its step.

    Operations after the gradients of their step are of the update; those of a backward pass say so themselves, and
    those between the passes of a loss and its gradients, which clip or scale them, are counted with it. All others are
    of the forward pass.
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

    Operations before the batches of their step make data, weights or random numbers, maybe for later steps: they are of
    the phase of the first record that they have made differ. So are those that come after the batches, as a loader that
    fetches ahead has them, where that record is what a later step begins with.

    Args:
        places: index of the record in each run, or of what that one did instead. here: the run to look at.
    """
    records, index = pair[row], places[row]
    record = records[index]
    if record.kind == "operation":
        outcome = _outcome(pair, places)
        is_early = _kind_near(records, index, range(index - 1, -1, -1)) in BEFORE_BATCH
        if outcome is not None and (is_early or _is_ahead(record, outcome[0])):
            one, other = outcome
            return data_or_order(one, other, rows) if one.kind == "batch" else OF_KIND.get(one.kind, "forward")
    if record.kind == "batch" and places[1 - row] < len(pair[1 - row]):
        other = pair[1 - row][places[1 - row]]
        if (record.kind, record.name) == (other.kind, other.name):
            return data_or_order(*((record, other) if row == 0 else (other, record)), rows)
    return phase_of(records, index)


def _is_ahead(record: TraceRecord, outcome: TraceRecord) -> bool:
    return outcome.step > record.step and outcome.kind in BEFORE_PASSES and not record.more.get("backward")


def _outcome(pair: tuple[Records, Records], places: tuple[int, int]) -> tuple[TraceRecord, TraceRecord] | None:
    """The first following record that is not an operation and differs between the runs."""
    first, second = pair
    theirs = dict(_outcomes(second, places[1]))
    for outcome, index in _outcomes(first, places[0]):
        if outcome not in theirs:
            continue
        digests = first.digests[index], second.digests[theirs[outcome]]
        if digests[0] != digests[1] and NO_DIGEST not in digests:
            return first[index], second[theirs[outcome]]
    return None


def _outcomes(records: Records, begin: int) -> Iterator[tuple[tuple[int, str, str, int], int]]:
    for index in range(begin, len(records)):
        kind, name, *_ = records.heads[records.head[index]]
        if kind != "operation":
            yield (records.steps[index], kind, name, records.ordinals[index]), index


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
        records = columns(trace.records)
        for head, more in zip(records.head, records.more, strict=True):
            if more and "rows" in records.mores[more]:
                row_counts.setdefault(records.heads[head][1], Counter()).update(_rows(records.mores[more]))
    return row_counts


def data_or_order(record: TraceRecord, other: TraceRecord, rows: tuple[Rows, Rows]) -> Phase:
    """`order` if both batches have the same examples, or examples that were exchanged with other batches.

    An example that another one has taken the place of stands elsewhere in the window that was traced, in both runs;
    one that was changed stands nowhere in the other run.
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
    return list(rows) if isinstance(rows, Sequence) and not isinstance(rows, str) else []
