import numpy as np
import pytest
from experiments import experiment, run, selected, single
from samples import sample

from deviate.model.analysis import Direction
from deviate.model.comparisons import Comparison
from deviate.model.estimates import Test as TestResult
from deviate.model.records import Experiment
from deviate.report.verdicts import verdict_reason
from deviate.stats.compare import compare, with_adjusted_p
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions
from deviate.stats.verdict import decide


def compared(
    difference: float,
    sd: float = 0.2,
    n: int = 8,
    *,
    direction: Direction | None = "max",
    margin: float | None = None,
    confidence: float = 0.95,
) -> Comparison:
    return compare(
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
    result = compared(0.5, margin=1.0)
    reason = verdict_reason(result)
    assert result.verdict.word == "equivalent"
    assert reason.startswith("the 90% interval of the difference lies within the margin ±1")
    assert "the difference is above 0" in reason
    assert reason.endswith("; no failure in 8 runs: the failure rate may be as high as 31%")


def test_without_a_margin_nothing_is_equivalent() -> None:
    assert compared(0.0).verdict.word == "undecided"
    assert compared(0.0, margin=1.0).verdict.word == "equivalent"


@pytest.mark.parametrize("margin", [None, 1.0])
def test_scores_that_are_equal_replicate_by_replicate_ask_whether_the_change_reached_the_script(
    margin: float | None,
) -> None:
    told = "; both scores of all 8 replicates are equal: does the change reach the script?"
    assert told in verdict_reason(compared(0.0, margin=margin))
    assert told not in verdict_reason(compared(1e-6, margin=margin))


@pytest.mark.parametrize(("direction", "word"), [("max", "better"), (None, "higher")])
def test_a_difference_beyond_the_margin_says_so(direction: Direction | None, word: str) -> None:
    reason = verdict_reason(compared(3.0, margin=1.0, direction=direction))
    assert reason.endswith(f"{word} by more than the margin 1")


def test_undecided_with_a_margin_names_the_runs_that_would_decide() -> None:
    result = compared(0.1, margin=0.2)
    assert result.verdict.word == "undecided"
    assert "17 runs of each would detect a difference of the margin 0.2 at 80% power" in verdict_reason(result)
    assert "not worse than by the margin (one-sided 95%); no failure in 8 runs" in verdict_reason(result)


def test_not_worse_is_not_said_when_the_bound_is_beyond_the_margin() -> None:
    assert "not worse" not in verdict_reason(compared(-0.1, margin=0.2))
    assert "not worse" in verdict_reason(compared(-0.1, margin=0.2, direction="min"))
    assert "not worse" not in verdict_reason(compared(0.1, margin=0.2, direction=None))


def test_the_verdict_needs_five_runs_in_each() -> None:
    assert compared(9, n=4).verdict.word == "undecided"
    assert compared(9, n=5).verdict.word == "better"


def test_the_level_follows_the_confidence() -> None:
    result = compared(0.3)
    assert result.verdict.word == "better"
    assert compared(0.3, confidence=0.999).verdict.word == "undecided"


def test_where_one_test_alone_rejects_both_p_values_are_said_with_what_was_measured() -> None:
    many = [*(90 + 0.1 * (i % 7) for i in range(34)), *(10.0 + i for i in range(6))]
    few = [90.0, 90.3, 90.1, 90.4, 90.2]
    result = compare(many, few, rng=np.random.default_rng(0), direction="max")
    t_test, permutation = result.both_tests
    assert isinstance(t_test, TestResult)
    assert isinstance(permutation, TestResult)
    assert t_test.p_value < 0.05 <= permutation.p_value
    assert result.verdict.word == "undecided"
    assert "the two tests disagree: Welch p = " in verdict_reason(result)
    assert "(6 of 40 runs lie far below the rest, 40 against 5 runs)" in verdict_reason(result)


def test_means_and_typical_runs_that_point_different_ways_are_named() -> None:
    """The candidate's mean is higher by a few runs that are far above, most of its runs are lower."""
    before, after = [float(i % 5) / 100 for i in range(60)], [-0.01 + 20.0 * (i % 3 == 0) for i in range(60)]
    reason = verdict_reason(compare(before, after, rng=np.random.default_rng(0), direction="max"))
    assert reason.endswith("; the means and the typical run disagree in direction")


@pytest.mark.parametrize(
    ("n", "is_alone", "word"), [(5, True, "undecided"), (7, True, "better"), (7, False, "undecided")]
)
def test_pairs_need_eight_and_six_where_a_comparison_is_alone(n: int, *, is_alone: bool, word: str) -> None:
    before, after = sample(90, 1, n), sample(99, 1.1, n)
    result = compare(before, after, rng=np.random.default_rng(0), direction="max", is_paired=True)
    verdict = decide(result, confidence=0.95, n_family=1 if is_alone else 2)
    assert verdict.word == word


def test_a_family_in_which_no_p_can_be_small_enough_says_so() -> None:
    result = compared(9, n=5)
    adjusted = with_adjusted_p(result, 0.079, 0.079, confidence=0.95, n_family=10)
    assert adjusted.verdict.word == "undecided"
    assert verdict_reason(adjusted).endswith("the smallest possible p of 5 v 5 runs is 0.0079, in a family of 10")


def test_p_that_is_not_adjusted_is_not_called_adjusted() -> None:
    assert "excludes 0, and p < 0.001" in verdict_reason(compared(1.0))
    in_family = with_adjusted_p(compared(1.0), 0.01, 0.01, confidence=0.95, n_family=3)
    assert "excludes 0, and adjusted p = 0.010 < 0.05" in verdict_reason(in_family)


def failing(name: str, scores: list[float], n_failed: int) -> Experiment:
    metric = selected(is_primary=True)
    runs = [run(i, {metric.name: single(it)}) for i, it in enumerate(scores)]
    runs += [run(len(scores) + i, {}, status="crashed") for i in range(n_failed)]
    return experiment(name, runs, [metric])


@pytest.mark.parametrize(
    ("n_failed", "word"), [((0, 4), "undecided"), ((4, 0), "better"), ((2, 2), "better"), ((0, 1), "better")]
)
def test_a_method_cannot_win_by_losing_its_failed_runs(n_failed: tuple[int, int], word: str) -> None:
    """With one failed run of eleven the worst ranks still say better; with four of fourteen they do not."""
    old, new = failing("old", sample(90, 0.5, 10), n_failed[0]), failing("new", sample(92, 0.5, 10), n_failed[1])
    (pair,) = judge([old, new]).pairs
    assert pair.headline is not None
    assert pair.headline.verdict.word == word
    if word == "undecided":
        assert verdict_reason(pair.headline) == (
            "better among completed runs, but 4 of 14 runs of new and 0 of 10 of old failed"
        )


def test_no_verdict_depends_on_the_analysis_seed() -> None:
    old, new = failing("old", sample(90, 0.5, 30), 2), failing("new", sample(90.27, 0.5, 25), 3)
    words = {judge([old, new], AnalysisOptions(analysis_seed=seed)).pairs[0].comparisons[0].verdict for seed in (0, 1)}
    assert len(words) == 1
