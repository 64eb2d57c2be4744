"""Columns: sequences like tuples, with every bit, that do not stay in memory."""

import math
import pickle
import struct
import sys
import tracemalloc
from array import array
from pathlib import Path

import numpy as np
import pytest

from deviate.model.records import Series
from deviate.records.columns import MOST_IN_MEMORY, NO_STEP, series_of

SIZES = [0, 3, MOST_IN_MEMORY + 1]


def series(folder: Path | None, steps: list[int], values: list[float]) -> Series:
    return series_of({"acc": (array("q", steps), array("d", values), array("d", values))}, folder)["acc"]


@pytest.mark.parametrize("n", SIZES)
def test_columns_are_equal_to_tuples_of_their_items(tmp_path: Path, n: int) -> None:
    values = [math.sqrt(index) for index in range(n)]
    found = series(tmp_path, list(range(n)), values)
    assert found == Series(tuple(range(n)), tuple(values))
    assert Series(tuple(range(n)), tuple(values)) == found
    assert found == series(None, list(range(n)), values)
    assert found != Series(tuple(range(n)), (*values, 1.0))
    assert hash(found) == hash(Series(tuple(range(n)), tuple(values)))
    assert (list(found.steps), list(found.values)) == (list(range(n)), values)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n", SIZES[1:])
def test_items_and_slices_are_those_of_a_tuple(tmp_path: Path, n: int) -> None:
    found = series(tmp_path, [*range(n - 1), NO_STEP], [0.5 * index for index in range(n)])
    assert (found.steps[-1], found.steps[0], found.values[-1]) == (None, 0, 0.5 * (n - 1))
    assert found.steps[-2:] == (n - 2, None)
    assert found.values[:2] == (0.0, 0.5)
    assert None in found.steps
    assert n - 2 in found.steps
    assert n not in found.steps
    with pytest.raises(IndexError):
        found.values[n]


@pytest.mark.parametrize("n", SIZES[1:])
def test_every_bit_comes_back_and_nan_is_where_nan_is(tmp_path: Path, n: int) -> None:
    odd = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 0.1 + 0.2, struct.unpack("<d", b"\1" + b"\xff" * 7)[0]]
    found = series(tmp_path, list(range(n + 7)), [*odd, *([1.0] * n)])
    assert [struct.pack("<d", value) for value in found.values[:7]] == [struct.pack("<d", value) for value in odd]
    assert np.asarray(found.values).tobytes()[:56] == struct.pack("<7d", *odd)
    assert found == Series(tuple(range(n + 7)), (math.nan, *odd[1:], *([1.0] * n)))
    assert found.values != (1.0, *odd[1:], *([1.0] * n))


@pytest.mark.parametrize("n", SIZES)
def test_columns_become_arrays_and_travel(tmp_path: Path, n: int) -> None:
    found = series(tmp_path, list(range(n)), [0.5] * n)
    assert np.array(found.steps, dtype=float).tolist() == list(range(n))
    assert np.array(found.values).tolist() == [0.5] * n
    np.array(found.values, dtype=float)[:1] = 7.0  # a copy, as of a tuple
    assert found.values[:1] in ((), (0.5,))
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_series_without_a_step_becomes_an_array_of_objects(tmp_path: Path) -> None:
    assert np.asarray(series(tmp_path, [NO_STEP], [1.0]).steps).tolist() == [None]


def test_metrics_of_a_run_keep_apart(tmp_path: Path) -> None:
    n = MOST_IN_MEMORY
    columns = {
        name: (array("q", range(n)), array("d", [start] * n), array("d", [-start] * n))
        for start, name in enumerate("abc")
    }
    found = series_of({**columns, "empty": (array("q"), array("d"), array("d"))}, tmp_path)
    assert {name: set(one.times) for name, one in found.items()} == {
        "a": {0.0},
        "b": {-1.0},
        "c": {-2.0},
        "empty": set(),
    }
    assert {name: set(one.values) for name, one in found.items()} == {
        "a": {0.0},
        "b": {1.0},
        "c": {2.0},
        "empty": set(),
    }


def test_a_folder_that_takes_no_file_costs_memory_alone(tmp_path: Path) -> None:
    n = MOST_IN_MEMORY + 1
    assert series(tmp_path / "missing", list(range(n)), [0.5] * n).values == (0.5,) * n


def test_long_series_take_no_memory(tmp_path: Path) -> None:
    n = 200_000
    tracemalloc.start()
    try:
        kept = [
            series_of({"a": (array("q", range(n)), array("d", [0.5]) * n, array("d", [0.25]) * n)}, tmp_path)
            for _ in range(5)
        ]
        assert tracemalloc.get_traced_memory()[0] < n
    finally:
        tracemalloc.stop()
    assert sys.getsizeof(kept[0]["a"].values) < 1_000


def test_times_lie_beside_values_and_do_not_make_series_differ(tmp_path: Path) -> None:
    n = MOST_IN_MEMORY + 1
    columns = (array("q", range(n)), array("d", [0.5]) * n, array("d", range(n)))
    found = series_of({"acc": columns}, tmp_path)["acc"]
    assert (found.times[-1], len(found.times)) == (n - 1, n)
    assert found == Series(tuple(range(n)), (0.5,) * n)
    untimed = series_of({"acc": (*columns[:2], array("d"))}, tmp_path)["acc"]
    assert (untimed.times, untimed) == ((), found)
