"""Where a pair is traced, and where the next one is when the difference has moved."""

import pytest

from deviate.diverge.findings import RUNGS, Difference
from deviate.diverge.levels import AROUND, LEVELS, LONG_BEFORE, LONGEST, NEAR, Window, next_window, window_around


def at(step: int | None, kind: str = "loss") -> Difference:
    return Difference("steps", "loss", step, None, kind, "loss")


@pytest.mark.parametrize("step", [0, 1, 3, NEAR])
def test_an_early_difference_is_looked_for_from_the_first_update_on(step: int) -> None:
    window = window_around(step)
    assert window.first == 0
    assert step in window
    assert window.until is not None


def test_a_late_difference_is_looked_for_around_its_update() -> None:
    window = window_around(5000)
    assert (window.first, window.until) == (5000 - AROUND, 5000 + AROUND)


def test_what_a_loss_tells_of_is_looked_for_long_before_it() -> None:
    window = window_around(300, before=LONG_BEFORE)
    assert (window.first, window.until) == (300 - LONG_BEFORE, 300 + AROUND)
    assert window_around(150, before=LONG_BEFORE) == Window(0, 150 + AROUND)


def test_a_difference_at_no_known_update_is_looked_for_in_the_whole_run() -> None:
    assert window_around(None, 800) == Window(0, None)


def test_of_a_long_run_whose_losses_are_equal_the_end_is_looked_at_and_then_what_is_before() -> None:
    window = window_around(None, 50_000)
    assert (window.first, window.until) == (50_000 - LONGEST, None)
    before = next_window(window, at(window.first, "weights"))
    assert before == Window(window.first - 4 * LONGEST, None)


def test_a_pair_that_parts_in_the_window_ends_the_search() -> None:
    assert next_window(Window(0, 10), at(3)) is None
    assert next_window(Window(0, 10), at(0, "weights")) is None
    assert next_window(Window(90, 120), at(90, "module")) is None
    assert next_window(Window(), at(7)) is None
    assert next_window(Window(0, 10), at(None)) is None, "a process of one run alone is nowhere else"


def test_a_pair_that_did_not_part_is_followed_by_one_that_goes_twice_as_far() -> None:
    assert next_window(Window(0, 10), None) == Window(0, 20)
    assert next_window(Window(90, 120), None) == Window(90, 150)
    assert next_window(Window(), None) == Window()


def test_a_pair_that_parted_before_the_window_has_it_begin_earlier() -> None:
    following = next_window(Window(90, 120), at(20))
    assert following is not None
    assert following.first == 0
    assert 20 in following
    assert following.until == 120


def test_a_pair_that_parted_after_the_window_has_it_go_further() -> None:
    following = next_window(Window(0, 10), at(30))
    assert following is not None
    assert 30 in following
    assert following.first == 0


@pytest.mark.parametrize("kind", ["weights", "state", "batch"])
def test_what_differs_at_the_beginning_of_a_window_has_parted_before_it(kind: str) -> None:
    following = next_window(Window(90, 120), at(90, kind))
    assert following is not None
    assert following.first < 90
    assert following.until == 120
    again = next_window(following, at(following.first, kind))
    assert again is None or again.first < following.first or following.first == 0


def test_each_rung_has_a_level_in_their_order() -> None:
    assert tuple(level.rung for level in LEVELS) == RUNGS
    assert [level.number for level in LEVELS] == [1, 2, 3, 4]


def test_modules_may_explain_an_update_unless_its_gradients_were_equal() -> None:
    modules = LEVELS[2]
    assert modules.is_useful("update", frozenset({"batch", "update"}))
    assert not modules.is_useful("update", frozenset({"batch", "gradient", "update"}))
    assert not modules.is_useful("data", frozenset({"batch", "update"}))
