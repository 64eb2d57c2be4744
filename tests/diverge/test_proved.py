"""Causes for what was proved: the line, and the cure for it."""

from pathlib import Path

import pytest

from deviate.diverge.calls import Calls
from deviate.diverge.chance import Chance
from deviate.diverge.findings import Cause
from deviate.diverge.proof import Proof
from deviate.diverge.proved import Namer
from deviate.diverge.source import Texts
from deviate.diverge.suspects import PRESENT, SEED, Suspect
from deviate.sources.catalogue import SOURCES

SCRIPT = """\
import numpy as np
import os
from sklearn.cluster import KMeans
from sklearn.model_selection import train_test_split
data = np.random.rand(99)
np.random.seed(0)
train, test = train_test_split(data)
model = KMeans(3).fit(train)
env.action_space.sample()
rng = np.random.default_rng()
x = draw(os.urandom(4))
memory = np.empty(3)
"""


@pytest.fixture
def namer(tmp_path: Path) -> Namer:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/train.py").write_text(SCRIPT, encoding="utf-8")
    return Namer(Calls(Texts(tmp_path)), [])


def name(namer: Namer, *sources: str, **more: object) -> list[Cause]:
    return list(namer.name(Proof(sources, (), **{"chance": (), **more})))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "source", "code"),
    [
        (9, "environment-seed", "env.action_space.seed(0)"),
        (10, "missing-seed", "np.random.default_rng(0)"),
        (11, "entropy", "random.Random(0).randbytes(4)"),
        (2, "entropy", ""),
    ],
)
def test_a_line_that_asks_the_system_has_the_cure_of_its_call(namer: Namer, line: int, source: str, code: str) -> None:
    (cause,) = name(namer, f"train.py:{line}")
    assert (cause.id, cause.places[0].line, cause.cure.partition("\n")[2]) == (source, line, code)
    assert cause.certainty == "proved"


def test_what_the_budget_did_not_tell_from_chance_is_suspected(namer: Namer) -> None:
    assert [cause.certainty for cause in name(namer, "hash", "train.py:10", is_suspected=True)] == ["suspected"] * 2


def test_a_generator_of_a_library_is_seeded_before_its_first_draw(namer: Namer) -> None:
    (cause,) = name(namer, "numpy", chance=(Chance(first_draws=(("numpy", "train.py", 5),)),))
    assert cause.cure.endswith("\nnp.random.seed(0)  # before train.py:5")
    assert "before it is seeded" in cause.why
    (late,) = name(namer, "numpy", chance=(Chance(first_draws=(("numpy", "train.py", 8),)),))
    assert "begins with a random seed" in late.why


@pytest.mark.parametrize(
    ("made", "line", "source", "code"),
    [
        ("ShuffleSplit", 7, "unseeded-split", "train_test_split(data, random_state=0)"),
        ("KMeans", 8, "missing-seed", "KMeans(3, random_state=0)"),
    ],
)
def test_an_object_without_random_state_is_named_where_it_is_made(
    namer: Namer, made: str, line: int, source: str, code: str
) -> None:
    (cause,) = name(namer, "numpy", chance=(Chance(without_seed=((made, "train.py", line),)),))
    assert (cause.id, cause.places[0].line, cause.cure.partition("\n")[2]) == (source, line, code)


@pytest.mark.parametrize(("rank", "source"), [(SEED, "changing-seed"), (PRESENT, "clock")])
def test_a_call_that_got_other_seeds_is_named_where_the_clock_alone_was_held(
    namer: Namer, rank: int, source: str
) -> None:
    place = namer.calls.texts.place("train.py", 5)
    suspects = [
        Suspect(SOURCES["clock"], 3, "time.time()", (place,), "time.time()", "clock"),
        Suspect(SOURCES["changing-seed"], rank, "jax.random.key", (place,), "jax.random.key(seed)"),
    ]
    assert [cause.id for cause in name(Namer(namer.calls, suspects), "clock")] == [source]


def test_what_was_held_is_named_by_what_is_suspected_of_all_that_it_holds(namer: Namer) -> None:
    place = namer.calls.texts.place("train.py", 5)
    suspects = [
        Suspect(SOURCES["file-order"], 3, "names", (place,), "os.listdir(a)", "listing"),
        Suspect(SOURCES["uninitialised"], 1, "aten.add read memory", (place,), held="kernels"),
    ]
    known = Namer(namer.calls, suspects)
    assert [cause.id for cause in name(known, "listing", "kernels", "workers")] == [
        "file-order",
        "uninitialised",
        "thread-updates",
    ]
    assert name(namer, "kernels") == [], "deterministic kernels can hide a small difference by rounding otherwise"
    memory = name(known, "kernels")[0]
    assert (memory.places[0].line, memory.cure.partition("\n")[2]) == (12, "np.zeros(3)")
