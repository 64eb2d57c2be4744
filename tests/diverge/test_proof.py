"""What a proof keeps of many sources, and how it is called."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.diverge.calls import Calls
from deviate.diverge.findings import Phase
from deviate.diverge.proof import Prover, describe
from deviate.diverge.source import Texts

NAMES = ("hash", "numpy", "train.py:3", "train.py:7", "torch", "data.py:2")


class Asked(Prover):
    """Runs that are equal where they have the same of all that is needed."""

    def __init__(self, needed: Sequence[str], phase: Phase, budget: int = 99) -> None:
        self.needed, self.phase, self.n_asked = set(needed), phase, 0
        self.budget, self.n_runs, self.is_suspected = budget, 0, False
        self.known: dict[frozenset[str], bool] = {}

    def _try(self, sources: Sequence[str]) -> bool:
        self.n_asked += 1
        self.n_runs += 1
        return self.needed <= set(sources)


@given(st.lists(st.sampled_from(NAMES), min_size=1, unique=True), st.data())
def test_the_smallest_part_that_makes_runs_equal_is_kept(sources: list[str], data: st.DataObject) -> None:
    needed = data.draw(st.lists(st.sampled_from(sources), min_size=1, unique=True))
    prover = Asked(needed, "metric")
    assert set(prover._reduce(sources)) == set(needed)
    assert prover.n_asked <= 2 + 3 * len(sources)


def test_one_of_many_takes_a_few_tests() -> None:
    prover = Asked(["torch"], "data")
    assert prover._reduce(NAMES) == ["torch"]
    assert prover.n_asked <= 6


def test_what_was_tested_is_not_tested_again() -> None:
    prover = Asked(["torch"], "data")
    prover._reduce(NAMES)
    n_asked = prover.n_asked
    assert prover._reduce(NAMES) == ["torch"]
    assert prover.n_asked == n_asked


def test_runs_that_are_equal_with_nothing_the_same_prove_nothing() -> None:
    assert Asked([], "update")._reduce(NAMES) == []


def test_what_the_budget_leaves_no_run_to_tell_from_chance_is_suspected_only() -> None:
    for budget, is_suspected in ((1, True), (2, False)):
        prover = Asked(["hash"], "update", budget)
        assert prover._reduce(["hash"]) == ["hash"]
        assert prover.is_suspected is is_suspected
    early = Asked(["hash"], "data", 1)
    assert early._reduce(["hash"]) == ["hash"]
    assert not early.is_suspected, "numbers that are drawn are not computed with noise"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rng = np.random.default_rng(0)", True),
        ("rng = np.random.RandomState(seed=2**10)", True),
        ("rng = np.random.default_rng()", False),
        ("rng = np.random.default_rng(None)", False),
        ("rng = np.random.default_rng(os.getpid())", False),
        ("x = np.random.default_rng(0).normal() + secrets.randbelow(9)", False),
        ("x = draw(0)", False),
    ],
)
def test_a_line_that_only_makes_a_generator_with_a_seed_uses_no_numbers_of_the_system(
    line: str, expected: object, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/train.py").write_text(f"{line}\n", encoding="utf-8")
    assert Calls(Texts(tmp_path)).is_seeded("train.py", 1) is expected


def test_what_was_not_enough_gives_nothing() -> None:
    assert Asked(["elsewhere"], "data")._reduce(NAMES) == []


def test_a_test_is_called_by_what_both_runs_have() -> None:
    assert describe(["hash", "train.py:7"]) == "with the same hash seed and the same numbers at train.py:7"
    assert describe(["threads"]) == "with one thread"
    assert describe(NAMES).endswith(" and 4 more")
    assert describe([]) == "with nothing the same"
