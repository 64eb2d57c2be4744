"""One bit: the element is chosen uniformly among those of matrices, and its neighbour is the smallest change."""

import math
import struct
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from deviate.guest.observers.arrays import flip_lowest_bit
from deviate.guest.observers.bits import places, unravel_index


def test_all_elements_of_matrices_are_chosen_alike_and_none_of_vectors() -> None:
    shapes = [(7,), (2, 3), (), (1, 2, 2), (0, 5)]
    chosen = Counter(next(places(str(seed), shapes)) for seed in range(4000))
    assert set(chosen) == {(1, (i, j)) for i in range(2) for j in range(3)} | {
        (3, (0, i, j)) for i in range(2) for j in range(2)
    }
    assert min(chosen.values()) > 320
    assert max(chosen.values()) < 480


def test_the_choice_is_that_of_the_seed() -> None:
    shapes = [(1000, 1000)]
    assert list(islice(places("7", shapes), 3)) == list(islice(places("7", shapes), 3))
    assert len(set(islice(places("7", shapes), 3))) == 3
    assert next(places("7", shapes)) != next(places("8", shapes))


def test_without_a_matrix_there_is_no_place() -> None:
    assert list(places("7", [(5,), (0, 3), ()])) == []


def test_places_are_counted_in_c_order() -> None:
    assert [unravel_index(place, (2, 3)) for place in (0, 1, 3, 5)] == [(0, 0), (0, 1), (1, 0), (1, 2)]


@pytest.mark.parametrize(("form", "value"), [("d", 0.1), ("f", 0.5), ("e", -3.0), ("d", 0.0)])
def test_the_flipped_number_is_a_neighbour_and_a_second_flip_undoes_it(form: str, value: float) -> None:
    raw = struct.pack(form, value)
    before, after = struct.unpack(form, raw)[0], struct.unpack(form, flip_lowest_bit(raw))[0]
    assert before != after
    assert flip_lowest_bit(flip_lowest_bit(raw)) == raw
    if form == "d":
        assert after in (math.nextafter(before, math.inf), math.nextafter(before, -math.inf))


@pytest.mark.parametrize(
    ("bits", "flip", "next_up", "n_bits"),
    [(0x3F800000, 0x3F800001, 0x3F800001, 1), (0x3F7FFFFF, 0x3F7FFFFE, 0x3F800000, 24)],
)
def test_a_flip_is_one_bit_where_the_next_number_up_may_be_many(
    bits: int, flip: int, next_up: int, n_bits: int
) -> None:
    """Summers & Dinneen take the next number up or down; ours is that of both which one bit makes."""
    raw = struct.pack("=I", bits)
    assert struct.unpack("=I", flip_lowest_bit(raw))[0] == flip
    assert abs(flip - bits) == 1, "the neighbour above or below"
    up = np.nextafter(np.uint32(bits).view(np.float32), np.float32(np.inf)).view(np.uint32)
    assert (int(up), (bits ^ int(up)).bit_count()) == (next_up, n_bits)
