"""Two runs side by side: the first difference, its phase, and which rank parted first."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traced import STEP, a_record, a_trace, columns, steps

from deviate.diverge.compare import FirstDifference, compare_traces, find_first_difference, keep_shared, without_idle
from deviate.diverge.findings import CodeLine, Difference, Phase
from deviate.diverge.traces import Trace, TraceRecord


def first_difference(one: list[TraceRecord], other: list[TraceRecord]) -> Difference:
    found = compare_traces([a_trace(one)], [a_trace(other)], "operations").difference
    assert found is not None
    return found


def changed(records: list[TraceRecord], *places: int) -> list[TraceRecord]:
    return [replace(it, digest=1 << 40 | at) if at in places else it for at, it in enumerate(records)]


def batches(*rows: list[int]) -> list[TraceRecord]:
    return [a_record(step, "batch", "input", hash(tuple(its)) & 0xFFFF, rows=its) for step, its in enumerate(rows)]


def test_equal_runs_have_no_difference_and_say_how_much_was_compared() -> None:
    found = compare_traces([a_trace(steps(5))], [a_trace(steps(5))], "operations")
    assert found.difference is None
    assert (found.n_steps, found.n_compared, found.by_rank) == (5, 5 * len(STEP), ())


def test_a_run_without_a_trace_leaves_nothing_to_compare() -> None:
    assert compare_traces([], [], "steps").n_compared == 0


PHASES: tuple[Phase, ...] = (
    "random", "data", "data", "forward", "forward", "forward", "forward", "forward", "loss", "backward", "backward",
    "backward", "backward", "update", "update", "update",
)  # fmt: skip


@pytest.mark.parametrize(("at", "phase"), list(enumerate(PHASES)))
def test_the_phase_is_that_of_the_first_record_that_differs(at: int, phase: Phase) -> None:
    records = steps(4)
    place = 3 * len(STEP) + at

    found = first_difference(records, changed(records, *range(place, len(records))))

    assert (found.step, found.phase, found.n_equal) == (3, phase, place)
    assert (found.kind, found.name) == STEP[at]
    assert found.place == CodeLine("train.py", 10 + at)
    assert found.only_in is None


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 7))
def test_the_order_of_processes_and_files_changes_nothing(seed: int, rank: int) -> None:
    one = [a_trace(steps(2), rank=number) for number in range(8)]
    other = [
        replace(it, records=columns(changed(list(it.records), 20 + it.rank))) if it.rank == rank else it for it in one
    ]
    shuffled = random.Random(seed).sample(one, len(one)), random.Random(seed + 1).sample(other, len(other))

    assert compare_traces(*shuffled, "steps") == compare_traces(one, other, "steps")
    assert [it.rank for it in compare_traces(*shuffled, "steps").by_rank] == [rank]


def test_weights_before_the_first_step_are_initial_ones_and_later_ones_were_updated_before_the_window() -> None:
    assert first_difference([a_record(0, "weights")], [a_record(0, "weights", digest=2)]).phase == "initial"
    assert first_difference([a_record(7, "weights")], [a_record(7, "weights", digest=2)]).phase == "update"


def test_an_operation_of_the_backward_pass_says_so_itself() -> None:
    one = [a_record(kind="operation", backward=True, module="head")]
    found = first_difference(one, [replace(one[0], digest=9)])
    assert (found.phase, found.module) == ("backward", "head")


def test_operations_between_the_passes_of_a_loss_and_its_gradients_are_of_the_backward_pass() -> None:
    def records(digest: int, *after: str) -> list[TraceRecord]:
        kinds = ["loss", "module-gradient", "operation", *after]
        return [a_record(kind=kind, name=kind, digest=digest if kind == "operation" else 1) for kind in kinds]

    assert first_difference(records(1, "gradient"), records(2, "gradient")).phase == "backward"
    assert first_difference(records(1, "module"), records(2, "module")).phase == "forward"


@pytest.mark.parametrize(
    ("kind", "phase"), [("batch", "data"), ("weights", "initial"), ("state", "random"), ("module", "forward")]
)
def test_operations_before_the_batch_are_of_what_they_have_made_differ(kind: str, phase: Phase) -> None:
    def records(digest: int, *extra: TraceRecord) -> list[TraceRecord]:
        made = a_record(0, "operation", "aten.randn.default", digest)
        kinds = ["state", "weights", "batch", "module"]
        return [*extra, made, *(a_record(0, its, its, digest if its == kind else 1) for its in kinds)]

    assert first_difference(records(1), records(2)).phase == phase
    program = first_difference(records(1), records(2, a_record(0, "operation", "aten.rand.default", 9)))
    assert (program.phase, program.more["during"], program.only_in) == ("program", phase, 2)


def test_an_operation_before_the_batch_that_moves_examples_is_of_the_order() -> None:
    swap = a_record(0, "operation", "aten.index_put_.default", 4)
    one, other = batches([1, 2], [3, 4]), batches([1, 4], [3, 2])
    found = first_difference(one, [swap, *other])
    assert (found.phase, found.more["during"]) == ("program", "order")


@pytest.mark.parametrize(
    ("kind", "backward", "during"),
    [("batch", False, "order"), ("state", False, "random"), ("forward", False, "forward"), ("batch", True, "backward")],
)
def test_an_operation_after_the_batch_is_of_what_a_later_step_begins_with_if_that_is_all_it_made_differ(
    kind: str,
    backward: bool,  # noqa: FBT001
    during: Phase,
) -> None:
    begin, later = batches([1, 2]), a_record(1, kind, "input", 3, rows=[5, 6])
    swap = a_record(0, "operation", "aten.index_put_.default", 4, backward=backward)
    one, other = [*begin, a_record(0, "forward"), later], [*begin, a_record(0, "forward"), swap]
    found = first_difference(one, [*other, replace(later, digest=4, more={"rows": [6, 5]})])
    assert (found.phase, found.step, found.more["during"]) == ("program", 0, during)


def test_two_examples_that_changed_places_in_a_batch_are_of_the_order() -> None:
    assert first_difference(batches([1, 2, 3, 4]), batches([1, 3, 2, 4])).phase == "order"


def test_two_examples_that_changed_places_between_batches_are_of_the_order() -> None:
    one, other = batches([1, 2], [3, 4], [5, 6]), batches([1, 4], [3, 2], [5, 6])
    found = first_difference(one, other)
    assert (found.phase, found.step) == ("order", 0)


def test_a_changed_example_is_of_the_data() -> None:
    assert first_difference(batches([1, 2], [3, 4]), batches([1, 9], [3, 4])).phase == "data"


def test_a_changed_example_that_occurs_twice_is_of_the_data() -> None:
    assert first_difference(batches([1, 2], [2, 4]), batches([1, 9], [2, 4])).phase == "data"
    assert first_difference(batches([1, 9], [2, 4]), batches([1, 2], [2, 4])).phase == "data"


def test_another_shuffle_of_which_the_window_shows_a_part_is_of_the_order() -> None:
    assert first_difference(batches([1, 2], [3, 4]), batches([3, 7], [8, 1])).phase == "order"


def test_a_batch_whose_rows_are_beyond_those_with_a_checksum_is_of_the_data() -> None:
    one = a_record(0, "batch", "input", 5, rows=[1, 2])
    assert first_difference([one], [replace(one, digest=6)]).phase == "data"


def test_a_batch_of_another_size_is_of_the_data() -> None:
    one = a_record(0, "batch", "input", 5, form="float32[2,3]", rows=[1, 2])
    found = first_difference([one], [replace(one, digest=6, form="float32[1,3]", more={"rows": [1]})])
    assert found.phase == "data"


def test_rows_are_counted_name_by_name() -> None:
    one = [*batches([1, 2]), a_record(0, "batch", "target", 8, rows=[9, 2])]
    other = [*batches([1, 9]), a_record(0, "batch", "target", 8, rows=[9, 2])]
    assert first_difference(one, other).phase == "data"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_swap_is_of_the_order_and_a_change_of_the_data(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=12, max_size=12, unique=True))
    here, there = data.draw(st.lists(st.integers(0, 11), min_size=2, max_size=2, unique=True))
    swapped, other = [*rows], [*rows]
    swapped[here], swapped[there] = rows[there], rows[here]
    other[here] = 1 << 33

    def split(its: list[int]) -> list[TraceRecord]:
        return batches(its[:4], its[4:8], its[8:])

    assert first_difference(split(rows), split(swapped)).phase == "order"
    assert first_difference(split(rows), split(swapped)).step == min(here, there) // 4
    assert first_difference(split(rows), split(other)).phase == "data"


def test_the_values_of_a_loss_are_told() -> None:
    one = a_record(2, "loss", "loss", 1, value=0.5)
    found = first_difference([one], [replace(one, digest=2, more={"value": 0.75})])
    assert (found.phase, found.values) == ("loss", (0.5, 0.75))


def test_an_extra_operation_is_of_the_program_and_tells_where_it_came() -> None:
    records = steps(2)
    at = len(STEP) + 4
    extra = a_record(1, "operation", "aten.mul.Tensor", 77, place=CodeLine("train.py", 50), module="layers.0")

    found = first_difference(records, [*records[:at], extra, *changed(records, at)[at:]])

    assert (found.phase, found.only_in, found.name, found.module) == ("program", 2, "aten.mul.Tensor", "layers.0")
    assert found.instead == "module layers.0 (train.py:14)"
    assert found.more["during"] == "forward"


def test_a_loss_that_stands_instead_is_called_loss_once() -> None:
    records = steps(1)
    at = STEP.index(("loss", "loss"))
    extra = a_record(0, "operation", "aten.mul.Tensor", 77)
    instead = first_difference(records, [*records[:at], extra, *records[at:]]).instead
    assert instead == f"loss (train.py:{10 + at})"


@pytest.mark.parametrize(
    ("is_whole", "instead"),
    [(True, "its process ended after 1 update"), (False, "its process was terminated after 1 update")],
)
def test_a_run_that_ended_earlier_is_of_the_program(is_whole: bool, instead: str) -> None:  # noqa: FBT001
    records = steps(3)
    short = a_trace(records[: len(STEP)], is_whole=is_whole)

    found = compare_traces([a_trace(records)], [short], "steps")

    assert found.difference is not None
    assert (found.difference.only_in, found.difference.instead, found.difference.step) == (1, instead, 1)
    assert (found.n_steps, found.n_compared) == (1, len(STEP))


def test_a_rank_that_left_no_trace_in_one_run_is_told() -> None:
    both = [a_trace(steps(1), rank=rank) for rank in (0, 1)]
    found = compare_traces(both, both[:1], "steps").difference
    assert found is not None
    assert (found.rank, found.phase, found.only_in, found.instead) == (
        1, "program", 1, "no process of this rank left a trace",
    )  # fmt: skip


def at(step: int, name: str) -> int:
    """Index of a record of `steps` by kind and name."""
    return step * len(STEP) + [f"{kind} {its}" for kind, its in STEP].index(name)


@pytest.mark.parametrize(
    ("in_rank_0", "in_rank_1", "first"),
    [
        (at(4, "module layers.0"), at(3, "module layers.1"), 1),  # the smaller step
        (at(3, "gradient layers.0.weight"), at(3, "module layers.1"), 1),  # what came by averaging stands behind
        (at(3, "gradient layers.0.weight"), at(3, "update layers.0.weight"), 1),
        (at(3, "loss loss"), at(3, "batch input"), 1),  # the earlier phase
        (at(3, "module layers.1"), at(3, "module layers.0"), 1),  # the earlier record
        (at(3, "batch input"), at(3, "batch target"), 0),
    ],
)
def test_the_rank_that_parted_first_is_named(in_rank_0: int, in_rank_1: int, first: int) -> None:
    records = steps(5)
    one = [a_trace(records, rank=rank) for rank in (0, 1)]
    other = [
        a_trace(changed(records, *range(place, len(records))), rank=rank)
        for rank, place in enumerate((in_rank_0, in_rank_1))
    ]

    found = compare_traces(one, other, "modules")

    assert found.difference is not None
    assert found.difference.rank == first
    assert [it.rank for it in found.by_rank] == [0, 1]


def test_a_collective_operation_hands_on_what_another_rank_began() -> None:
    def records(mm: int, reduced: int) -> list[TraceRecord]:
        return [
            a_record(kind="operation", name="c10d.allreduce_.default", digest=reduced, backward=True),
            a_record(kind="operation", name="aten.mm.default", digest=mm, backward=True),
        ]

    one = [a_trace(records(1, 2), rank=rank) for rank in (0, 1)]
    other = [a_trace(records(1, 9), rank=0), a_trace(records(8, 2), rank=1)]
    found = compare_traces(one, other, "operations").difference
    assert found is not None
    assert (found.rank, found.name) == (1, "aten.mm.default")


quick = settings(max_examples=60, deadline=None)
names = st.sampled_from([("module", "a"), ("module", "b"), ("operation", "aten.mul.Tensor")])


@st.composite
def traces(draw: st.DrawFn) -> list[TraceRecord]:
    """Several steps of the same records, each on a line of its own, as a program has them."""
    step = draw(st.lists(names, min_size=2, max_size=12))
    digests = iter(draw(st.lists(st.integers(0, 2**32 - 1), min_size=48, max_size=48, unique=True)))
    return [
        a_record(number, kind, name, next(digests), place=CodeLine("train.py", line))
        for number in range(draw(st.integers(1, 4)))
        for line, (kind, name) in enumerate(step)
    ]


def compared(one: list[TraceRecord], other: list[TraceRecord]) -> FirstDifference | None:
    return find_first_difference(columns(one), columns(other))


@quick
@given(traces())
def test_equal_traces_do_not_part(records: list[TraceRecord]) -> None:
    assert compared(records, list(records)) is None


@quick
@given(traces(), st.data())
def test_a_changed_record_is_the_one_that_is_found(records: list[TraceRecord], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(records) - 1))
    changed = [*records]
    for later in range(at, len(records)):  # what comes after it differs as well, as it does in a program
        changed[later] = replace(records[later], digest=(records[later].digest or 0) ^ 1)

    assert compared(records, changed) == FirstDifference(at, at)


@quick
@given(traces(), st.data())
def test_a_record_that_one_run_lacks_is_the_one_that_is_found(records: list[TraceRecord], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(records) - 1))
    without = [*records[:at], *records[at + 1 :]]

    assert compared(records, without) == FirstDifference(at, at, only_in=1)
    assert compared(without, records) == FirstDifference(at, at, only_in=2)


@quick
@given(traces(), st.data())
def test_an_extra_record_is_found_though_all_numbers_after_it_differ(
    records: list[TraceRecord], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(records)))
    step = records[min(at, len(records) - 1)].step
    extra = a_record(step, "operation", "aten.mul.Tensor", 1 << 40, place=CodeLine("train.py", 99))
    after = [replace(it, digest=(it.digest or 0) ^ 1) for it in records[at:]]

    assert compared(records, [*records[:at], extra, *after]) == FirstDifference(at, at, 2)


@quick
@given(traces(), st.data())
def test_two_records_that_changed_places_part_at_the_first_of_them(
    records: list[TraceRecord], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(records) - 2))
    swapped = [*records[:at], records[at + 1], records[at], *records[at + 2 :]]

    found = compared(records, swapped)

    assert found is not None
    assert at in {found.first, found.second}


def test_a_record_without_a_digest_is_compared_by_what_it_is_alone() -> None:
    one = [a_record(name="aten.empty", digest=None), a_record(digest=2)]
    assert compared(one, [a_record(name="aten.empty", digest=7), a_record(digest=2)]) is None
    assert compared(one, [a_record(name="aten.rand", digest=None), a_record(digest=2)]) is not None


def test_numbers_of_another_shape_are_other_numbers_and_no_other_way() -> None:
    assert compared([a_record()], [a_record(form="float32[5]")]) == FirstDifference(0, 0)


def test_the_same_operation_on_another_line_with_other_numbers_is_another_way() -> None:
    here, there = CodeLine("train.py", 7), CodeLine("train.py", 9)
    one = [a_record(digest=1, place=here), a_record(name="b", digest=2)]

    assert compared(one, [a_record(digest=5, place=there), a_record(name="b", digest=2)]) == FirstDifference(
        0, 0, only_in=1
    )
    assert compared(one, [a_record(digest=1, place=there), a_record(name="b", digest=2)]) is None


def test_a_trace_that_ends_earlier_parts_at_its_end() -> None:
    records = steps(3)
    assert compared(records, records[:20]) == FirstDifference(20, 20, only_in=1)
    assert compared([], records) == FirstDifference(0, 0, only_in=2)
    assert compared([], []) is None


def test_a_step_more_in_one_run_is_seen_at_the_record_that_is_of_another_step() -> None:
    one = [a_record(0), a_record(0, name="b"), a_record(1)]
    other = [a_record(0), a_record(1, name="b"), a_record(1)]
    found = compared(one, other)
    assert found is not None
    assert (found.first, found.only_in) == (1, 1)


def test_what_one_environment_alone_has_anywhere_is_left_out() -> None:
    one, other = keep_shared(columns([a_record(), a_record(name="cpu")]), columns([a_record(name="cuda"), a_record()]))
    assert list(one) == list(other) == [a_record()]


def trace(*states: int, name: str = "python", rank: int = 0) -> Trace:
    """A trace whose generator is in these states, update by update, with a loss after each."""
    records = []
    for step, digest in enumerate(states):
        records.append(TraceRecord(step, None, "state", name, 0, digest))
        records.append(TraceRecord(step, None, "loss", "loss", 0, 100 + step))
    return Trace(rank, 2, 0, None, columns(records), len(states))


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
