"""Generators that nobody draws from do not make two runs part."""

from deviate.diverge import compare_traces
from deviate.diverge.findings import Trace, TraceRecord
from deviate.diverge.idle import without_idle


def trace(*states: int, name: str = "python", rank: int = 0) -> Trace:
    """A trace whose generator is in these states, update by update, with a loss after each."""
    records = []
    for step, digest in enumerate(states):
        records.append(TraceRecord(step, None, "state", name, 0, digest))
        records.append(TraceRecord(step, None, "loss", "loss", 0, 100 + step))
    return Trace(rank, 2, 0, None, tuple(records), len(states))


def test_another_state_that_never_changes_is_left_out() -> None:
    first, second = without_idle([trace(1, 1, 1)], [trace(2, 2, 2)])
    assert {it.kind for side in (*first, *second) for it in side.records} == {"loss"}
    assert compare_traces(first, second, "steps").difference is None


def test_a_generator_that_is_drawn_from_in_one_run_stays() -> None:
    found = compare_traces(*without_idle([trace(1, 1, 1)], [trace(1, 1, 2)]), "steps").difference
    assert found is not None
    assert (found.kind, found.step) == ("state", 2)
    unseeded = compare_traces(*without_idle([trace(1, 2, 3)], [trace(4, 5, 6)]), "steps").difference
    assert unseeded is not None
    assert (unseeded.kind, unseeded.step) == ("state", 0)


def test_states_that_are_equal_stay_and_one_record_tells_nothing() -> None:
    same = [trace(1, 1)], [trace(1, 1)]
    assert without_idle(*same) == tuple(tuple(side) for side in same)
    once = [trace(1)], [trace(2)]
    assert without_idle(*once) == tuple(tuple(side) for side in once)


def test_ranks_are_judged_each_by_itself() -> None:
    first = [trace(1, 1), trace(1, 2, rank=1)]
    second = [trace(2, 2), trace(3, 4, rank=1)]
    found = compare_traces(*without_idle(first, second), "steps").difference
    assert found is not None
    assert found.rank == 1
