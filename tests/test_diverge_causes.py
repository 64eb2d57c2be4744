"""Causes from the command line to the answer: what further runs prove, with the line and the cure for it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CLASSES = """\
import numpy as np

np.random.seed(0)
words = ["cat", "dog", "cow", "hen", "pig", "ant", "bee", "fox"]
classes = list(set(words))
weights = np.zeros(8)
for epoch in range(3):
    for word in words:
        weights[classes.index(word)] += np.random.rand()
    print(f"epoch {epoch} test loss {float(weights @ np.arange(8)):.6f}")
"""
CLOCK = """\
import time

import numpy as np

np.random.seed(time.time_ns() % 2**32)
for epoch in range(3):
    print(f"epoch {epoch} test loss {np.random.rand():.6f}")
"""
SYSTEM = """\
import secrets

total = 0.0
for epoch in range(3):
    total += secrets.randbelow(1 << 30) / (1 << 30)
    print(f"epoch {epoch} test loss {total:.6f}")
"""
UNSEEDED = """\
import numpy as np

np.zeros(3)
for epoch in range(3):
    print(f"epoch {epoch} test loss {np.random.rand():.6f}")
"""
LATE = """\
import random

first = random.random()
random.seed(0)
for epoch in range(3):
    print(f"epoch {epoch} test loss {first * random.random():.6f}")
"""
TWO = """\
import os

import numpy as np

noise = np.random.default_rng()
code = hash("a text")
for epoch in range(3):
    print(f"epoch {epoch} test loss {noise.random() + code % 97:.6f}")
"""
PRINTED = """\
import time

start = time.time()
for count in range(20000):
    if count % 9000 == 0:
        print(f"{count} of 20000 done, {time.time() - start:.4f} s elapsed")
print("total", sum({1, 2, 3}))
"""
IMPORTANCES = """\
import random

import numpy as np

for epoch in range(3):
    print(f"epoch {epoch} test accuracy {0.91234 + epoch / 100}")
print("run", random.randrange(10**6))
print("importance", 0.5 + np.random.rand())
"""

Diverge = Callable[..., dict[str, Any]]


@pytest.fixture
def diverge(tmp_path: Path, deviate_in: Callable[[Path], Callable[..., Any]]) -> Diverge:
    def call(text: str, *words: str) -> dict[str, Any]:
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        answer = deviate_in(tmp_path)("diverge", "train.py", *words, "--json", "out.json")
        assert answer.code == 0, answer.err
        found: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
        return {**found, "out": answer.out}

    return call


def proved(found: dict[str, Any]) -> list[tuple[int, str]]:
    """Line and cure of each proved cause."""
    causes = [cause for cause in found["causes"] if cause["certainty"] == "proved"]
    return [(cause["places"][0]["line"], cause["cure"].rpartition("\n")[2]) for cause in causes]


def test_the_order_of_a_set_is_proved_and_its_cure_works(diverge: Diverge) -> None:
    found = diverge(CLASSES)
    assert proved(found) == [(5, "sorted(set(words))")]
    assert "Cause" in found["out"]
    assert "(proved)" in found["out"]
    assert diverge(CLASSES.replace("list(set(words))", "sorted(set(words))"))["is_equal"] is True
    assert diverge(CLASSES, "--hold", "hash")["is_equal"] is True


def test_a_seed_from_the_clock_is_proved_and_its_cure_works(diverge: Diverge) -> None:
    assert proved(diverge(CLOCK)) == [(5, "np.random.seed(0)")]
    assert diverge(CLOCK, "--hold", "clock")["is_equal"] is True


def test_numbers_from_the_system_are_proved_with_their_line(diverge: Diverge) -> None:
    found = diverge(SYSTEM)
    assert proved(found) == [(5, "random.Random(0).randrange(1 << 30)")]
    assert diverge(SYSTEM, "--hold", "entropy")["is_equal"] is True


def test_the_first_draw_from_what_nobody_seeds_is_named(diverge: Diverge) -> None:
    assert proved(diverge(UNSEEDED)) == [(5, "np.random.seed(0)  # before train.py:4")]
    assert diverge(UNSEEDED, "--variant", "control")["is_equal"] is True


def test_draws_that_are_printed_beside_equal_results_are_a_difference_and_names_are_none(diverge: Diverge) -> None:
    assert proved(diverge(IMPORTANCES)) == [(8, "np.random.seed(0)  # before train.py:8")]
    found = diverge(IMPORTANCES.replace("\n\nfor", "\n\nnp.random.seed(0)\nfor"))
    assert found["is_equal"] is True
    assert "numbers that are no results differ: number in line 4" in found["notes"]


def test_a_draw_before_the_seed_is_named(diverge: Diverge) -> None:
    found = diverge(LATE)
    assert proved(found) == [(3, "random.seed(0)  # before train.py:3")]
    assert "before it is seeded" in found["out"]


def test_two_sources_that_are_both_needed_are_both_named(diverge: Diverge) -> None:
    assert sorted(proved(diverge(TWO))) == [
        (5, "np.random.default_rng(0)"),
        (6, "zlib.crc32(str('a text').encode())"),
    ]


def test_numbers_that_are_no_results_are_compared_and_clocks_are_not(diverge: Diverge) -> None:
    assert diverge(PRINTED)["is_equal"] is True
    assert diverge(PRINTED.replace("{1, 2, 3}", "map(hash, 'ab')"))["is_equal"] is False


def test_the_budget_is_the_most_runs_of_a_proof(diverge: Diverge) -> None:
    found = diverge(CLASSES, "--budget", "0")
    assert (found["confirmations"], proved(found)) == ([], [])
    assert "(suspected)" in found["out"]
