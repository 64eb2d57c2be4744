"""Records side by side: the place of the first difference, whatever was done to one of two equal traces."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from traced import a_record, steps

from deviate.diverge.align import FirstDifference, find_first_difference, keep_shared
from deviate.diverge.columns import columns
from deviate.diverge.findings import Place, TraceRecord

quick = settings(max_examples=60, deadline=None)
names = st.sampled_from([("module", "a"), ("module", "b"), ("operation", "aten.mul.Tensor")])


@st.composite
def traces(draw: st.DrawFn) -> list[TraceRecord]:
    """Several steps of the same records, each on a line of its own, as a program has them."""
    step = draw(st.lists(names, min_size=2, max_size=12))
    digests = iter(draw(st.lists(st.integers(0, 2**32 - 1), min_size=48, max_size=48, unique=True)))
    return [
        a_record(number, kind, name, next(digests), place=Place("train.py", line))
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
    extra = a_record(step, "operation", "aten.mul.Tensor", 1 << 40, place=Place("train.py", 99))
    after = [replace(it, digest=(it.digest or 0) ^ 1) for it in records[at:]]
    then = (at, at + 1) if at < len(records) else None

    assert compared(records, [*records[:at], extra, *after]) == FirstDifference(at, at, 2, then)


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
    here, there = Place("train.py", 7), Place("train.py", 9)
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
