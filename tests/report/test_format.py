import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.report.format import (
    between,
    clean,
    decimals,
    difference_unit,
    duration,
    instant,
    name_text,
    number,
    p_cell,
    p_text,
    percentage,
    replicates,
    sign_number,
)


@pytest.mark.parametrize(
    ("standard_error", "places"), [(0.0694, 3), (0.0996, 2), (0.0994, 3), (0.95, 2), (0.996, 1), (9.96, 0), (140.0, -1)]
)
def test_two_significant_digits_of_the_standard_error_decide_the_decimals(standard_error: float, places: int) -> None:
    assert decimals(standard_error) == places


@pytest.mark.parametrize("standard_error", [0.0, math.nan, math.inf, -1.0])
def test_a_standard_error_that_says_nothing_decides_nothing(standard_error: float) -> None:
    assert decimals(standard_error) is None


def test_a_rounded_zero_has_no_sign() -> None:
    assert number(-0.0004, 2) == "0.00"
    assert sign_number(0.0004, 2) == "0.00"
    assert sign_number(-0.0004, 2) == "0.00"


def test_a_difference_carries_its_sign() -> None:
    assert sign_number(0.333, 2) == "+0.33"
    assert sign_number(-0.333, 2) == "−0.33"


def test_values_too_small_or_large_for_decimals_are_written_with_an_exponent() -> None:
    assert number(2.31e-7, decimals(1.2e-9)) == "2.310e−7"
    assert number(1.5e9, decimals(1.0e7)) == "1.500e9"


def test_values_that_are_not_finite_are_named() -> None:
    assert [number(value, 2) for value in (math.nan, math.inf, -math.inf)] == ["NaN", "inf", "−inf"]


def test_an_interval_is_written_with_an_ellipsis_so_that_signs_stay_readable() -> None:
    assert between(-0.12, 0.54, 2) == "−0.12 … 0.54"


@pytest.mark.parametrize(
    ("p_value", "text"),
    [
        (0.0041, "p = 0.004"),
        (0.00049, "p < 0.001"),
        (0.0, "p < 0.001"),
        (0.0009, "p < 0.001"),
        (0.001, "p = 0.001"),
        (1.0, "p = 1.000"),
    ],
)
def test_a_p_value_has_three_decimals_and_is_never_zero(p_value: float, text: str) -> None:
    assert p_text(p_value) == text


@given(st.floats(min_value=0, max_value=1))
def test_no_p_value_is_printed_as_zero(p_value: float) -> None:
    assert p_cell(p_value) not in {".000", "0.000", "0"}


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e6, max_value=1e6), st.integers(0, 6))
def test_a_rounded_number_lies_within_half_a_unit_of_its_last_digit(value: float, places: int) -> None:
    read = float(number(value, places).replace("−", "-"))
    assert abs(read - value) <= 0.5 * 10.0**-places * (1 + 1e-9) + 1e-9


def test_percent_and_points_are_different_words() -> None:
    assert difference_unit("%") == "points"
    assert difference_unit("s") == "s"


def test_a_coefficient_of_variation_is_in_percent() -> None:
    assert percentage(0.0041) == "0.41 %"
    assert percentage(0.25) == "25 %"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (9.96, "10 s"), (59.7, "1 min 0 s"), (3599.6, "1 h 0 min"), (86399, "1 d 0 h"), (-1, "unknown")],
)
def test_a_duration_carries_over_to_the_next_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_time_never_recorded_is_not_1970() -> None:
    assert instant(0.0) == "not recorded"
    assert instant(1_790_000_000.0) == "2026-09-21 14:13:20 UTC"


def test_neighbouring_replicates_are_joined() -> None:
    assert replicates((5, 0, 1, 2)) == "replicates 0–2, 5"


@given(st.text())
def test_cleaned_text_is_one_line_that_can_be_written_and_obeyed_by_no_terminal(text: str) -> None:
    cleaned = clean(text)
    assert "\x1b" not in cleaned
    assert all(character.isprintable() or ord(character) >= 0xA0 for character in cleaned)
    assert len(cleaned.splitlines()) <= 1
    cleaned.encode()


def test_colour_codes_and_titles_of_terminals_are_stripped_with_their_text() -> None:
    assert clean("\x1b[1;31mValueError\x1b[0m: bad\x1b]0;title\x07!") == "ValueError: bad!"


def test_letters_of_all_languages_stay() -> None:
    assert clean("точность 精度 αβ") == "точность 精度 αβ"


@pytest.mark.parametrize("name", ["", "  ", "\x07", "\u200b\u2060", "\n\t"])
def test_a_name_that_nobody_sees_is_said_in_words(name: str) -> None:
    assert name_text(name) == "(no name)"
    assert name_text(f"{name}a").strip("\u200b\u2060 ") == "a"
