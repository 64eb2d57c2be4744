"""Random generators that are never drawn from, whose states do not affect a run.

If a script seeds one library only, the generators of others start in a different state in each run. A generator with
the same state at each update provided no numbers in between; earlier draws would show in weights and batches.
"""

from collections.abc import Sequence
from dataclasses import replace

from deviate.diverge.columns import Records, columns
from deviate.diverge.findings import Trace

STATE = "state"


def without_idle(first: Sequence[Trace], second: Sequence[Trace]) -> tuple[tuple[Trace, ...], tuple[Trace, ...]]:
    """The traces without records of generators that are idle in both runs, and differ in state."""
    theirs = {trace.rank: trace for trace in second}
    idle = {trace.rank: _idle(trace, theirs[trace.rank]) for trace in first if trace.rank in theirs}
    mine, theirs_by_rank = (
        tuple(_without(trace, names) if (names := idle.get(trace.rank)) else trace for trace in run)
        for run in (first, second)
    )
    return mine, theirs_by_rank


def _idle(one: Trace, other: Trace) -> frozenset[str]:
    mine, theirs = _states(columns(one.records)), _states(columns(other.records))
    return frozenset(
        name
        for name in mine.keys() & theirs.keys()
        if all(len(digests[name][0]) == 1 and digests[name][1] > 1 for digests in (mine, theirs))
        and mine[name][0] != theirs[name][0]
    )


def _states(records: Records) -> dict[str, tuple[set[int], int]]:
    """Checksums of the states of each generator, and the number of records."""
    numbers = {number: head[1] for number, head in enumerate(records.heads) if head[0] == STATE}
    states: dict[str, tuple[set[int], int]] = {}
    for index, number in enumerate(records.head):
        if number in numbers:
            digests, n = states.get(numbers[number], (set(), 0))
            digests.add(records.digests[index])
            states[numbers[number]] = digests, n + 1
    return states


def _without(trace: Trace, names: frozenset[str]) -> Trace:
    records = columns(trace.records)
    heads = {(kind, name) for kind, name, *_ in records.heads if kind != STATE or name not in names}
    return replace(trace, records=records.of_names(heads))
