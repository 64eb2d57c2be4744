"""Examples of several runs beside each other: whatever their order, copies and gaps, rows are those of one example."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.errors import RecordError
from deviate.stability.captures.sets import Aligned, RunExamples, align

KEYS = st.lists(st.integers(0, 12), min_size=1, max_size=25)


def told(keys: list[int] | np.ndarray, truth: list[int] | np.ndarray | None = None) -> RunExamples:
    array = np.asarray(keys, np.uint64)
    return RunExamples(len(array), array, None if truth is None else np.asarray(truth))


def untold(n: int, truth: list[int] | None = None) -> RunExamples:
    return RunExamples(n, None, None if truth is None else np.asarray(truth))


def rows_of(found: Aligned | str, runs: list[RunExamples]) -> list[np.ndarray]:
    """The keys of each run in the order in which its rows are taken."""
    return [
        run.keys if order is None else run.keys[order]
        for run, order in zip(runs, found.orders, strict=True)
        if run.keys is not None
    ]


@given(KEYS, st.lists(st.randoms(use_true_random=False), min_size=1, max_size=4))
def test_shuffled_runs_get_the_order_of_the_first(keys, shuffles) -> None:
    runs = [told(keys)]
    for shuffle in shuffles:
        its = list(keys)
        shuffle.shuffle(its)
        runs.append(told(its))
    found = align(runs)
    for its in rows_of(found, runs):
        assert its.tolist() == keys
    assert found.positions.tolist() == list(range(len(keys)))
    assert found.notes == ()


@given(KEYS, st.randoms(use_true_random=False))
def test_every_row_of_a_shuffled_run_is_taken_once(keys, shuffle) -> None:
    its = list(keys)
    shuffle.shuffle(its)
    found = align([told(keys), told(its)])
    order = found.orders[1]
    assert order is None or sorted(order.tolist()) == list(range(len(keys)))


@given(KEYS, st.randoms(use_true_random=False))
def test_copies_of_an_input_keep_their_true_labels_apart(keys, shuffle) -> None:
    examples = [(key, index % 3) for index, key in enumerate(keys)]
    other = list(examples)
    shuffle.shuffle(other)
    runs = [told(*map(list, zip(*its, strict=True))) for its in (examples, other)]
    found = align(runs)
    order = found.orders[1]
    if found.alignment == "input":  # else the inputs came in one order, whatever the labels of copies
        assert order is not None
        one, two = sorted(examples), sorted([other[row] for row in order])
        assert one == two
        assert runs[0].truth is not None
        assert runs[1].truth is not None
        own = found.orders[0]
        assert runs[1].truth[order].tolist() == runs[0].truth[own].tolist()


def test_copies_stand_for_one_another_in_the_order_in_which_they_came() -> None:
    found = align([told([5, 7, 5, 5]), told([7, 5, 5, 5])])
    assert found.orders[1] is not None
    assert found.orders[1].tolist() == [1, 0, 2, 3]


@given(st.lists(KEYS, min_size=2, max_size=4), KEYS)
def test_what_is_missing_in_one_run_is_left_out_of_all(lists, common) -> None:
    runs = [told(common + its[: len(common) // 2]) for its in lists]
    found = align(runs)
    if isinstance(found, str):
        return
    taken = rows_of(found, runs)
    assert all(its.tolist() == taken[0].tolist() for its in taken)
    counts = [dict(zip(*np.unique(run.keys, return_counts=True), strict=True)) for run in runs]
    expected = sum(min(its.get(key, 0) for its in counts) for key in counts[0])
    assert len(found.positions) == expected
    assert found.positions.tolist() == sorted(found.positions.tolist())


def test_missing_examples_are_told() -> None:
    found = align([told([1, 2, 3, 4]), told([4, 2, 1])])
    assert found.positions.tolist() == [0, 1, 3]
    assert found.alignment == "input"
    assert found.notes == ("3 of 4 examples are in all runs; the others are left out.",)


def test_the_same_order_is_taken_as_it_is() -> None:
    found = align([told([3, 1, 1]), told([3, 1, 1])])
    assert (found.orders, found.alignment, found.notes) == ((None, None), "position", ())


def test_other_inputs_are_other_sets() -> None:
    with pytest.raises(RecordError, match=r"^runs have only 1 of 4 examples in common: their inputs or their sets"):
        align([told([1, 2, 3, 4]), told([5, 6, 7, 4])])


def test_inputs_that_differ_in_bits_go_by_position_where_true_labels_agree() -> None:
    found = align([told([1, 2, 3], [0, 1, 0]), told([4, 5, 6], [0, 1, 0])])
    assert found.alignment == "position"
    assert "Inputs differ between runs" in found.notes[0]


def test_labels_of_one_class_prove_no_order() -> None:
    with pytest.raises(RecordError):
        align([told([1, 2, 3], [1, 1, 1]), told([4, 5, 6], [1, 1, 1])])


def test_without_keys_the_order_is_taken_for_granted_and_told() -> None:
    found = align([untold(3), untold(3)])
    assert found.alignment == "position"
    assert found.notes == (
        "Examples are matched by position, assuming the same order in all runs: no run has hashes of its inputs.",
    )


def test_without_keys_labels_in_another_order_end_it() -> None:
    with pytest.raises(RecordError, match=r"^the order of true labels differs between runs, and no run has hashes"):
        align([untold(3, [0, 1, 1]), untold(3, [1, 0, 1])])


def test_without_keys_other_numbers_of_examples_end_it() -> None:
    with pytest.raises(RecordError, match=r"^runs have 3 to 4 examples, and no run has hashes of its inputs"):
        align([untold(3), untold(4)])


def test_a_single_run_needs_no_partner() -> None:
    found = align([untold(3)])
    assert found.notes == ()


def test_truth_that_is_nowhere_a_number_agrees_with_itself() -> None:
    truth = [0.5, float("nan"), 1.5]
    align([untold(3, truth), untold(3, truth)])


@pytest.mark.parametrize("n", [0, 1])
def test_empty_and_single_sets_are_aligned(n: int) -> None:
    found = align([told(list(range(n))), told(list(range(n)))])
    assert len(found.positions) == n
