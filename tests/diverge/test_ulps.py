"""Distances in ulps: steps of numpy.nextafter, in every type of floats."""

import math
import struct

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deviate.diverge.ulps import float_form, ulps, value_ulps

quick = settings(max_examples=80, deadline=None)
FLOATS = (np.float16, np.float32, np.float64)
kinds = st.sampled_from(FLOATS)
INFINITY = float("inf")


def bits(kind: type[np.floating], pattern: int) -> npt.NDArray[np.floating]:
    size = np.dtype(kind).itemsize
    return np.asarray([pattern & ((1 << 8 * size) - 1)], dtype=f"u{size}").view(kind)


@quick
@given(kinds, st.integers(0, 2**64 - 1), st.integers(1, 40), st.booleans())
def test_the_distance_is_the_number_of_steps_of_nextafter(
    kind: type[np.floating],
    pattern: int,
    n: int,
    up: bool,  # noqa: FBT001
) -> None:
    begin = bits(kind, pattern)
    assume(np.isfinite(begin[0]))
    end = begin
    for _ in range(n):
        end = np.nextafter(end, kind(INFINITY if up else -INFINITY))
    assume(np.isfinite(end[0]))

    assert ulps(begin, end).most == ulps(end, begin).most == n


@quick
@given(kinds, st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3))
def test_distances_on_a_line_add_up(kind: type[np.floating], patterns: list[int]) -> None:
    one, two, three = sorted((bits(kind, it) for it in patterns), key=lambda it: float(it[0]))
    assume(np.isfinite([one[0], two[0], three[0]]).all())
    parts = ulps(one, two).most, ulps(two, three).most
    assert None not in parts
    assert ulps(one, three).most == sum(it for it in parts if it is not None)


@quick
@given(st.integers(0, 2**16 - 1), st.integers(0, 2**16 - 1))
def test_bfloat16_comes_as_its_bits(one: int, other: int) -> None:
    first, second = np.asarray([one], np.uint16), np.asarray([other], np.uint16)
    wide = [(it.astype(np.uint32) << 16).view(np.float32) for it in (first, second)]
    assume(np.isfinite(wide).all())

    found = ulps(first, second, "bfloat16[1]")

    exact = ulps(*wide)  # one step of bfloat16 is 2^16 of float32
    assert exact.most is not None
    assert found.most == exact.most >> 16
    assert (found.largest, found.relative, found.form) == (exact.largest, exact.relative, "bfloat16[1]")
    assert found.n_different == int(one != other)


@pytest.mark.parametrize("kind", FLOATS)
def test_the_ends_of_a_type_are_as_far_apart_as_it_has_numbers(kind: type[np.floating]) -> None:
    largest, size = np.finfo(kind).max, np.dtype(kind).itemsize
    exponents = {2: 5, 4: 8, 8: 11}[size]
    positive = ((1 << exponents) - 1) << (8 * size - 1 - exponents)
    assert ulps(-largest, largest).most == 2 * (positive - 1)


@pytest.mark.parametrize("kind", FLOATS)
def test_zeros_of_both_signs_are_no_distance_and_yet_two_bit_patterns(kind: type[np.floating]) -> None:
    found = ulps(kind(0.0), kind(-0.0))
    assert (found.most, found.n_different, found.largest, found.relative) == (0, 1, 0.0, 0.0)
    assert ulps(np.nextafter(kind(0), kind(-1)), np.nextafter(kind(0), kind(1))).most == 2


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize(
    ("one", "other"), [(1.0, math.nan), (1.0, INFINITY), (INFINITY, -INFINITY), (math.nan, INFINITY)]
)
def test_what_is_finite_in_one_alone_has_no_distance(kind: type[np.floating], one: float, other: float) -> None:
    found = ulps(np.asarray([one, 1], kind), np.asarray([other, 1], kind))
    assert (found.most, found.n_different, found.largest, found.relative) == (None, 1, INFINITY, INFINITY)


def test_other_bits_of_nan_are_no_distance() -> None:
    found = ulps(bits(np.float32, 0x7FC00000), bits(np.float32, 0x7FC00001))
    assert (found.most, found.n_different, found.largest) == (0, 1, 0.0)
    assert ulps(np.float32("nan"), np.float32("nan")).n_different == 0
    assert ulps(np.float32("inf"), np.float32("inf")).most == 0


def test_the_numbers_of_an_array_are_those_of_its_elements() -> None:
    one = np.asarray([[1, 2, 3], [4, 5, 0]], np.float32)
    other = one.copy()
    other[0, 1] = np.nextafter(np.float32(2), np.float32(3))
    other[1, 0] += 1

    found = ulps(one, other)

    assert (found.n_different, found.n_elements, found.form) == (2, 6, "float32[2,3]")
    assert (found.most, found.largest, found.relative) == (1 << 21, 1.0, 0.2)
    assert ulps(one.T, other.T).n_different == 2


@pytest.mark.parametrize(
    ("kind", "one", "other", "largest", "relative"),
    [
        (np.int64, 3, 5, 2.0, 0.4),
        (np.int64, 2**53, 2**53 + 1, 1.0, 1 / (2**53 + 1)),
        (np.int64, -(2**63), 2**63 - 1, float(2**64), 2.0),
        (np.uint64, 2**64 - 1, 2**64 - 2, 1.0, 2.0**-64),
        (np.uint8, 0, 255, 255.0, 1.0),
        (np.bool_, True, False, 1.0, 1.0),
    ],
)
def test_whole_numbers_have_no_ulps(kind: type, one: int, other: int, largest: float, relative: float) -> None:
    found = ulps(np.asarray([one, 1], kind), np.asarray([other, 1], kind))
    assert (found.most, found.n_different, found.n_elements) == (None, 1, 2)
    assert (found.largest, found.relative) == (largest, relative)
    assert ulps(np.asarray([one], kind), np.asarray([one], kind)).n_different == 0


@pytest.mark.parametrize(("kind", "half"), [(np.complex64, np.float32), (np.complex128, np.float64)])
def test_complex_numbers_are_as_far_apart_as_the_farther_part(kind: type, half: type[np.floating]) -> None:
    one = np.asarray([1 + 1j, 2 + 2j], kind)
    other = one.copy()
    other.real[0] = np.nextafter(half(1), half(2))
    other.imag[0] = np.nextafter(np.nextafter(half(1), half(2)), half(2))
    assert (ulps(one, other).most, ulps(one, other).n_different) == (2, 1)
    other.imag[1] = np.nan
    assert ulps(one, other).most is None


def test_an_empty_array_and_a_single_number_are_arrays() -> None:
    nothing = np.zeros((0, 3), np.float32)
    assert (ulps(nothing, nothing).n_elements, ulps(nothing, nothing).form) == (0, "float32[0,3]")
    assert ulps(np.float32(1), np.float32(1)).form == "float32[]"


@pytest.mark.parametrize("other", [np.zeros(3), np.zeros((2, 2), np.float32), np.zeros(4, np.float32)])
def test_arrays_of_other_types_or_shapes_are_refused(other: npt.NDArray[np.floating]) -> None:
    with pytest.raises(ValueError, match="no elements to compare"):
        ulps(np.zeros(3, np.float32), other)


@quick
@given(st.floats(allow_nan=False, width=32), st.integers(1, 9))
def test_values_of_single_precision_are_told_apart_in_it(value: float, n: int) -> None:
    other = np.float32(value)
    for _ in range(n):
        other = np.nextafter(other, np.float32(-1e30) if value > 0 else np.float32(1e30))
    assume(math.isfinite(value))
    assert float_form(value, float(other)) == "float32"
    assert value_ulps(value, float(other)).most == n


@quick
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_is_of_single_precision_where_the_bits_of_it_fit(value: float) -> None:
    try:
        fits = struct.unpack("f", struct.pack("f", value))[0] == value
    except OverflowError:
        fits = False
    assert float_form(value) == ("float32" if fits else "float64")


def test_a_value_of_double_precision_makes_both_of_it() -> None:
    assert value_ulps(0.5, 0.1).most == value_ulps(0.5, 0.1, "float64").most
    assert value_ulps(0.1, math.nextafter(0.1, 1)).most == 1
    assert value_ulps(1.0, 1.0 + 2**-23).most == 1
    assert value_ulps(1.0, 1.0 + 2**-23, "float64").most == 1 << 29


def test_values_without_an_end_have_no_distance_to_others() -> None:
    assert value_ulps(math.nan, math.nan).most == value_ulps(INFINITY, INFINITY).most == 0
    assert value_ulps(INFINITY, 1.0).most is value_ulps(math.nan, 1.0).most is None
    assert value_ulps(1e300, 1.0, "float32").most is None
