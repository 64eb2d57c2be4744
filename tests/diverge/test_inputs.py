"""Inputs of two runs: compared place by place; what is equal in both, and what came before the first difference."""

from typing import Any

from traced import a_record, a_trace

from deviate.diverge.findings import CodeLine, Difference
from deviate.diverge.inputs import compare_inputs, equal_inputs
from deviate.diverge.traces import InputEvent, Trace

BATCH = Difference("steps", "data", 1, 1, "batch", "input", n_equal=1)


def an_input(digest: int | None, *, line: int = 3, source: str = "listing", step: int = 0, **more: Any) -> InputEvent:
    return InputEvent(source, "os.listdir('data')", digest, str(digest), CodeLine("train.py", line), step, **more)


def traced(*inputs: InputEvent) -> tuple[Trace, ...]:
    return (a_trace([a_record(0), a_record(1)], inputs=inputs),)


def test_the_first_difference_of_each_place_is_told_with_both_values_and_whether_it_came_before() -> None:
    mine = (an_input(1), an_input(2), an_input(5, line=9, step=1, n_before=2))
    theirs = (an_input(1), an_input(3), an_input(6, line=9, step=1, n_before=2))
    found = compare_inputs(traced(*mine), traced(*theirs), BATCH)
    assert [(it.place.line, it.shown, it.is_upstream) for it in found] == [
        (3, ("2", "3"), True),
        (9, ("5", "6"), False),
    ]


def test_an_input_is_equal_only_if_every_value_of_its_place_can_be_compared_and_is() -> None:
    mine = (an_input(1), an_input(2, line=5), an_input(None, line=7, source="address"), an_input(4, line=8))
    theirs = (an_input(1), an_input(3, line=5), an_input(None, line=7, source="address"))
    assert equal_inputs(traced(*mine), traced(*theirs)) == {("listing", "train.py", 3)}


def test_values_of_threads_are_equal_whichever_of_them_are_folded() -> None:
    mine = (an_input(1, is_in_thread=True), an_input(5, is_in_thread=True, n_folded=2))
    theirs = (an_input(3, is_in_thread=True), an_input(3, is_in_thread=True, n_folded=2))
    other = (an_input(3, is_in_thread=True), an_input(4, is_in_thread=True, n_folded=2))
    assert compare_inputs(traced(*mine), traced(*theirs), BATCH) == ()
    assert len(compare_inputs(traced(*mine), traced(*other), BATCH)) == 1
