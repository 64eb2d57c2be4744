"""Batches of a pass through data: what is put together of them, and what need not be in memory for it."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.guest.observers import rows
from deviate.guest.observers.capture import FULL
from deviate.guest.observers.rows import Batches

SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=8)
TEXTS = np.array(["a", "bb", "ccc", "a\x1fb", ""])


def batches_of(left: int = 1 << 30) -> Batches:
    return Batches(SimpleNamespace(left=left))  # type: ignore[arg-type]


def filled(sizes: list[int], most: int) -> Batches:
    """The same pass, of which no more than `most` bytes wait."""
    data = np.random.default_rng(0)
    batches = batches_of()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "MOST_WAITING", most)
        for n in sizes:
            texts = data.choice(TEXTS, (n, 2)).tolist()
            inputs = [data.normal(size=(n, 3)).astype("float32"), np.array(texts), np.array(texts, dtype=object)]
            batches.add(data.normal(size=(n, 2)), data.integers(0, 2, n), inputs)
    return batches


@given(SIZES, st.integers(0, 600))
def test_it_makes_no_difference_how_much_waits(sizes: list[int], most: int) -> None:
    whole, piecemeal = filled(sizes, 1 << 30).whole(), filled(sizes, most).whole()
    for one, other in zip(whole[:2], piecemeal[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert whole[2] == piecemeal[2]
    assert whole[2] is not None
    assert whole[2][1] == (sum(sizes),)


def test_texts_are_known_whatever_else_is_in_their_batch() -> None:
    def keys(*texts: str) -> list[bytes]:
        found = rows.keys_of([np.array(texts)], len(texts))
        assert found is not None
        return [bytes(found[2][start : start + 8]) for start in range(0, 8 * len(texts), 8)]

    assert keys("a", "bbbb") == [*keys("a"), *keys("bbbb")]
    assert len(set(keys("a", "b", "ab", "", "a "))) == 5


def test_inputs_that_no_longer_wait_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MOST_WAITING", 1000)
    batches, alive = batches_of(), []
    for number in range(20):
        inputs = np.full((2, 50), number)
        alive.append(weakref.ref(inputs))
        batches.add(np.zeros((2, 3)), None, [inputs])
    del inputs
    gc.collect()
    assert sum(each() is not None for each in alive) <= 2
    outputs, truth, keys = batches.whole()
    assert (outputs.shape, truth) == ((40, 3), None)
    assert keys is not None
    assert keys[1] == (40,)


def test_more_outputs_than_a_run_may_keep_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MOST_WAITING", 0)
    batches = batches_of(left=200)
    alive = []
    for _ in range(20):
        outputs = np.zeros((2, 5))
        alive.append(weakref.ref(outputs))
        batches.add(outputs, None, [])
    del outputs
    assert batches.why_not == FULL
    assert all(each() is None for each in alive)
    assert batches.whole() == (None, None, None)


def test_labels_come_to_the_latest_batch_whatever_was_settled_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MOST_WAITING", 0)
    batches = batches_of()
    for number in range(4):
        outputs = np.full((2, 3), float(number))
        batches.add(outputs, None, [])
        batches.label(np.zeros((2, 3)), lambda: np.array([9, 9]))  # of something else
        batches.label(outputs, lambda: np.array([number, number]))  # noqa: B023
        batches.label(outputs, lambda: np.array([8, 8]))  # it has some
    assert batches.whole()[1].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_keys_are_those_of_each_example_however_batches_are_cut() -> None:
    """Padded to the longest of the batch, a mask beside that is no example's, an empty batch, one of a single row."""
    batches = batches_of()
    mask = np.ones((1, 4))
    for n, length in ((3, 5), (0, 4), (1, 6)):
        batches.add(np.zeros((n, 2)), None, [np.full((n, length), n), mask])
    outputs, _, keys = batches.whole()
    assert len(outputs) == 4
    alone = rows.keys_of([np.full((1, 6), 1)], 1)
    assert keys is not None
    assert alone is not None
    assert keys[1] == (4,)
    assert bytes(keys[2][24:]) == alone[2]


@pytest.mark.parametrize(
    ("shapes", "reason"), [([(2, 3), (2, 4)], "do not fit together"), ([(2, 3), ()], "nothing with a row")]
)
def test_batches_that_make_no_whole_are_told(shapes: list[tuple[int, ...]], reason: str) -> None:
    batches = batches_of()
    for shape in shapes:
        batches.add(np.zeros(shape), None, [])
    assert batches.whole() == (None, None, None)
    assert reason in batches.why_not
    assert batches
