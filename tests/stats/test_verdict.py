import numpy as np
import pytest
from samples import sample

from deviate import stats
from deviate.model import Comparison, Direction


def compared(
    difference: float,
    sd: float = 0.2,
    n: int = 8,
    *,
    direction: Direction | None = "max",
    margin: float | None = None,
    confidence: float = 0.95,
) -> Comparison:
    return stats.compare(
        sample(93, sd, n),
        sample(93 + difference, sd, n),
        rng=np.random.default_rng(0),
        direction=direction,
        margin=margin,
        confidence=confidence,
    )


@pytest.mark.parametrize(
    ("difference", "direction", "word"),
    [
        (1.0, "max", "better"),
        (1.0, "min", "worse"),
        (-1.0, "max", "worse"),
        (-1.0, "min", "better"),
        (1.0, None, "higher"),
        (-1.0, None, "lower"),
        (0.05, "max", "undecided"),
    ],
)
def test_the_word_follows_the_direction(difference: float, direction: Direction | None, word: str) -> None:
    assert compared(difference, direction=direction).verdict.word == word


def test_equivalent_comes_before_better_and_says_the_sign() -> None:
    verdict = compared(0.5, margin=1.0).verdict
    assert verdict.word == "equivalent"
    assert verdict.reason.startswith("the 90% interval of the difference lies within the margin ±1")
    assert verdict.reason.endswith("the difference is above 0")


def test_without_a_margin_nothing_is_equivalent() -> None:
    assert compared(0.0).verdict.word == "undecided"
    assert compared(0.0, margin=1.0).verdict.word == "equivalent"


@pytest.mark.parametrize("margin", [None, 1.0])
def test_scores_that_are_equal_replicate_by_replicate_ask_whether_the_change_reached_the_script(
    margin: float | None,
) -> None:
    told = "; both scores of all 8 replicates are equal: does what was changed reach the script?"
    assert told in compared(0.0, margin=margin).verdict.reason
    assert told not in compared(1e-6, margin=margin).verdict.reason


@pytest.mark.parametrize(("direction", "word"), [("max", "better"), (None, "higher")])
def test_a_difference_beyond_the_margin_says_so(direction: Direction | None, word: str) -> None:
    reason = compared(3.0, margin=1.0, direction=direction).verdict.reason
    assert reason.endswith(f"{word} by more than the margin 1")


def test_undecided_with_a_margin_names_the_runs_that_would_decide() -> None:
    verdict = compared(0.1, margin=0.2).verdict
    assert verdict.word == "undecided"
    assert "17 runs of each would see a difference of the margin 0.2 at 80% power" in verdict.reason
    assert verdict.reason.endswith("not worse than by the margin (one-sided 95%)")


def test_not_worse_is_not_said_when_the_bound_is_beyond_the_margin() -> None:
    assert "not worse" not in compared(-0.1, margin=0.2).verdict.reason
    assert "not worse" in compared(-0.1, margin=0.2, direction="min").verdict.reason
    assert "not worse" not in compared(0.1, margin=0.2, direction=None).verdict.reason


def test_the_verdict_needs_five_runs_in_each() -> None:
    assert compared(9, n=4).verdict.word == "undecided"
    assert compared(9, n=5).verdict.word == "better"


def test_the_level_follows_the_confidence() -> None:
    result = compared(0.3)
    assert result.verdict.word == "better"
    assert compared(0.3, confidence=0.999).verdict.word == "undecided"
