"""Causes from the command line to the answer: what is named first, and whether its switch makes runs equal."""

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

for epoch in range(3):
    print(f"epoch {epoch} test loss {np.random.rand():.6f}")
"""
TIMED = """\
import time

import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
for epoch in range(3):
    loss = model(torch.ones(4, 3) * (time.time() % 1)).square().mean()
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        model.weight -= 0.1 * model.weight.grad
    print(f"epoch {epoch} test loss {loss.item():.6f}")
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


def named(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(it["id"], it["certainty"]) for it in found["causes"]]


def test_the_order_of_a_set_is_named_and_a_fixed_hash_seed_is_seen_to_remove_it(diverge: Diverge) -> None:
    found = diverge(CLASSES, "--variant", "as-is", "--confirm")
    assert named(found)[0] == ("hash-order", "likely")
    assert found["causes"][0]["places"][0]["line"] == 5
    confirmed = found["confirmations"][0]
    assert (confirmed["cause"], confirmed["flags"]) == ("hash-order", "--hold hash")
    assert confirmed["is_equal"] is True
    assert diverge(CLASSES)["is_equal"] is True


def test_a_seed_from_the_clock_is_named_and_a_fixed_clock_is_seen_to_remove_it(diverge: Diverge) -> None:
    found = diverge(CLOCK, "--confirm")
    assert named(found)[0] == ("changing-seed", "likely")
    assert found["causes"][0]["places"][0]["line"] == 5
    assert [(it["flags"], it["is_equal"]) for it in found["confirmations"]] == [("--hold clock", True)]


def test_numbers_from_the_system_are_named_with_their_line(diverge: Diverge) -> None:
    found = diverge(SYSTEM)
    assert named(found)[0] == ("entropy", "likely")
    assert "secrets.randbelow" in found["causes"][0]["why"]
    assert found["causes"][0]["places"][0]["line"] == 5


def test_what_nobody_seeds_is_named_as_the_script_is_and_equal_in_control(diverge: Diverge) -> None:
    found = diverge(UNSEEDED, "--variant", "as-is", "--confirm")
    assert named(found)[0] == ("unseeded", "possible")
    assert found["confirmations"][0]["is_equal"] is True


@pytest.mark.slow
def test_a_clock_is_named_with_the_line_that_asks_it(diverge: Diverge, require: Callable[[str], None]) -> None:
    require("torch")
    found = diverge(TIMED)
    cause = found["causes"][0]
    assert (cause["id"], cause["certainty"]) == ("clock", "likely")
    assert cause["places"][0]["line"] == 8
    assert "time.time()" in cause["why"]
