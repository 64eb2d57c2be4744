"""Hashes of weights tell all that differs, hashes of examples do not see their order."""

import struct

import pytest

from deviate.guest.observers.hashing import Examples, weights_digest

ROWS = (1.0, 2.0, 3.0, 4.0)


def array(numbers: tuple[float, ...], *shape: int, kind: str = "float32") -> tuple:
    return kind, shape, struct.pack(f"{len(numbers)}f", *numbers)


def digest(*batches: list) -> str:
    examples = Examples()
    for batch in batches:
        examples.add(batch, of_pass="one")
    return examples.digest()


def test_weights_are_told_apart_by_name_type_shape_and_bytes_but_not_by_order() -> None:
    weights = [("a", array(ROWS, 2, 2)), ("b", array(ROWS, 4))]
    others = [
        [("a", array(ROWS, 2, 2)), ("c", array(ROWS, 4))],
        [("a", array(ROWS, 4)), ("b", array(ROWS, 4))],
        [("a", array(ROWS, 2, 2, kind="int32")), ("b", array(ROWS, 4))],
        [("a", array(ROWS, 2, 2)), ("b", array((1.0, 2.0, 3.0, -4.0), 4))],
        weights[:1],
    ]
    assert weights_digest(weights) == weights_digest(weights[::-1])
    assert len({weights_digest(chosen) for chosen in (weights, *others)}) == 6


def test_negative_zero_is_another_weight() -> None:
    assert weights_digest([("a", array((0.0,), 1))]) != weights_digest([("a", array((-0.0,), 1))])


def test_examples_hash_the_same_in_any_order_and_in_any_batches() -> None:
    whole = digest([array(ROWS, 2, 2)])
    assert digest([array((3.0, 4.0, 1.0, 2.0), 2, 2)]) == whole
    assert digest([array(ROWS[2:], 1, 2)], [array(ROWS[:2], 1, 2)]) == whole


def test_passes_over_the_same_examples_divided_otherwise_have_another_hash() -> None:
    def divided(*passes: tuple[float, ...]) -> str:
        examples = Examples()
        for number, numbers in enumerate(passes):
            for value in numbers:
                examples.add([array((value,), 1, 1)], number)
        return examples.digest()

    assert divided((1.0, 2.0, 3.0), (4.0,)) != divided((1.0, 2.0, 4.0), (3.0,))
    assert divided((1.0, 2.0, 3.0), (4.0,)) == divided((4.0,), (3.0, 1.0, 2.0))


@pytest.mark.parametrize(
    "other",
    [
        [array((1.0, 3.0, 2.0, 4.0), 2, 2)],  # numbers changed places between examples
        [array(ROWS, 4, 1)],
        [array(ROWS, 2, 2, kind="int32")],
        [array(ROWS[:2], 1, 2)],
        [array(ROWS + ROWS, 4, 2)],
        [array(ROWS, 2, 2), array(ROWS, 2, 2)],
    ],
)
def test_other_examples_have_another_hash(other: list) -> None:
    assert digest(other) != digest([array(ROWS, 2, 2)])


def test_an_empty_batch_adds_nothing() -> None:
    assert digest([array((), 0, 2)], []) == digest()


def test_a_buffer_may_come_when_its_turn_has_come() -> None:
    kind, shape, buffer = array(ROWS, 4)
    assert weights_digest([("a", (kind, shape, lambda: buffer))]) == weights_digest([("a", (kind, shape, buffer))])


@pytest.mark.parametrize("places", [slice(0, 1), slice(1_400_000, 1_600_000), slice(2_999_999, None)])
def test_long_examples_are_told_apart_by_their_ends_and_by_parts_between(places: slice) -> None:
    example, other = bytearray(3_000_000), bytearray(3_000_000)
    other[places] = b"\x01" * len(other[places])
    assert digest([("uint8", (1, 3_000_000), example)]) != digest([("uint8", (1, 3_000_000), other)])
