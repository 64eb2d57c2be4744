"""What a proof keeps of many sources, and how it is called."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from deviate.diverge.findings import Phase
from deviate.diverge.proof import Prover, describe

NAMES = ("hash", "numpy", "train.py:3", "train.py:7", "torch", "data.py:2")


class Asked(Prover):
    """Runs that are equal where they have the same of all that is needed."""

    def __init__(self, needed: Sequence[str], phase: Phase) -> None:
        self.needed, self.phase, self.n_asked = set(needed), phase, 0

    def _makes_equal(self, sources: Sequence[str]) -> bool:
        self.n_asked += 1
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


def test_runs_that_are_equal_with_nothing_the_same_prove_nothing() -> None:
    assert Asked([], "update")._reduce(NAMES) == []


def test_what_was_not_enough_gives_nothing() -> None:
    assert Asked(["elsewhere"], "data")._reduce(NAMES) == []


def test_a_test_is_called_by_what_both_runs_have() -> None:
    assert describe(["hash", "train.py:7"]) == "with the same hash seed and the same numbers at train.py:7"
    assert describe(["threads"]) == "with one thread"
    assert describe(NAMES).endswith(" and 4 more")
    assert describe([]) == "with nothing the same"
