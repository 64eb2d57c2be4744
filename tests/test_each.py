"""A test over many cases checks all of them, and names those that fail."""

import pytest
from each import check_each


def check_even(number: int) -> None:
    assert number % 2 == 0


def test_every_case_that_fails_is_named_and_those_after_it_are_checked() -> None:
    with pytest.raises(ExceptionGroup, match="2 of 4 cases fail: one, three") as caught:
        check_each([("one", 1), ("two", 2), ("three", 3), ("four", 4)], check_even)
    assert [failure.__notes__ for failure in caught.value.exceptions] == [["Case: one"], ["Case: three"]]


def test_an_error_of_any_kind_is_a_failure_of_its_case() -> None:
    with pytest.raises(ExceptionGroup, match="1 of 2 cases fail: text"):
        check_each([("text", "a"), ("number", "4")], int)


def test_cases_that_all_pass_are_no_failure_and_no_case_at_all_is_one() -> None:
    check_each([("two", 2), ("four", 4)], check_even)
    with pytest.raises(AssertionError, match="no case to check"):
        check_each([], check_even)
