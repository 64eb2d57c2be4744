"""Every degenerate case of the statistics contract has a named answer: no NaN, no exception, no warning of scipy."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest
from degenerate import CASES
from each import check_each
from samples import experiment, metric, run, sample

from deviate.model.comparisons import Comparison, Description, Paired, SpreadVerdict
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.report.verdicts import verdict_reason
from deviate.stats.compare import compare
from deviate.stats.describe import describe
from deviate.stats.estimates.one_sample import coefficient_of_variation
from deviate.stats.estimates.spread import brown_forsythe
from deviate.stats.hypothesis.two_sample import welch
from deviate.stats.judge import judge


def numbers(value: object) -> list[float]:
    """Every float in a description or comparison, wherever it stands."""
    if isinstance(value, float):
        return [value]
    if isinstance(value, tuple):
        return [number for item in value for number in numbers(item)]
    if dataclasses.is_dataclass(value):
        return [number for part in dataclasses.fields(value) for number in numbers(getattr(value, part.name))]
    return []


def check_description(scores: Sequence[float]) -> None:
    described = describe(scores)
    assert all(math.isfinite(number) for number in numbers(described))
    assert described.n + len(described.missing) == described.n_runs == len(scores)


def test_a_description_holds_no_nan() -> None:
    check_each(CASES.items(), check_description)


def parts(value: object) -> list[object]:
    """Every value in a comparison, wherever it stands; descriptions aside, which have a test of their own."""
    if isinstance(value, tuple):
        return [part for item in value for part in parts(item)]
    if isinstance(value, Description) or not dataclasses.is_dataclass(value):
        return [value]
    return [value, *(part for it in dataclasses.fields(value) for part in parts(getattr(value, it.name)))]


@pytest.mark.parametrize("is_paired", [False, True], ids=["two samples", "pairs"])
@pytest.mark.parametrize("before", CASES)
def test_a_comparison_holds_no_nan_and_no_p_of_zero(before: str, is_paired: bool) -> None:  # noqa: FBT001
    for after, others in CASES.items():
        rng = np.random.default_rng(0)
        result = compare(
            CASES[before],
            others,
            rng=rng,
            direction="max",
            margin=0.1,
            is_paired=is_paired,
            spread_ratio=2.0,
        )
        assert all(math.isfinite(number) for number in numbers(result)), after
        assert verdict_reason(result), after
        for part in parts(result):
            if isinstance(part, (Unavailable, SpreadVerdict)):
                assert part.reason, after
            if isinstance(part, Test):
                assert 0 < part.p_value <= 1, after
            if isinstance(part, Interval):
                assert part.low < part.high, after
                assert part.method
        if min(result.baseline.n, result.candidate.n) < 5:
            assert result.verdict.word in {"undecided", "identical"}
        if is_paired and isinstance(result.paired, Paired) and result.paired.n < 6:
            assert result.verdict.word in {"undecided", "identical"}
        if min(result.baseline.n, result.candidate.n) < 16:
            assert isinstance(result.spread_verdict, SpreadVerdict)
            assert result.spread_verdict.word == "undecided"


def compared(before: list[float], after: list[float], *, margin: float | None = None) -> Comparison:
    return compare(before, after, rng=np.random.default_rng(0), direction="max", margin=margin)


def test_no_completed_run_is_said_with_the_number_of_runs() -> None:
    crashed = experiment("a", [metric("acc")], {}, runs=[run(i, {"acc": [0.1]}, "crashed") for i in range(5)])
    description = judge([crashed]).experiments[0].descriptions[0]
    assert description.note == "no completed run (0/5)"
    assert description.mean == Unavailable(Reason.NO_SCORE)
    assert description.missing == tuple((i, "crashed") for i in range(5))


def test_one_run_has_a_value_and_no_spread() -> None:
    description = describe([0.93])
    assert description.mean == description.minimum == description.maximum == 0.93
    assert description.note == "1 run: spread unknown"
    unknown = Unavailable(Reason.SINGLE_RUN)
    assert (description.sd, description.sd_interval, description.mean_interval, description.range) == (unknown,) * 4


def test_one_run_on_one_side_is_undecided_without_a_p() -> None:
    result = compared([0.5], CASES["eight"])
    assert result.verdict.word == "undecided"
    assert "1 run" in verdict_reason(result)
    assert all(isinstance(found, Unavailable) for found in (result.welch, result.student, result.mann_whitney))
    assert result.difference == pytest.approx(0.4375)


def test_two_to_four_runs_are_described_but_undecided() -> None:
    result = compared([1.0, 1.1, 1.2, 1.3], [9.0, 9.1, 9.2, 9.3])
    assert result.verdict.word == "undecided"
    assert "needs 5 runs" in verdict_reason(result)
    assert isinstance(result.difference_interval, Interval)
    assert "too few for a verdict" in result.baseline.note


def test_equal_values_have_no_interval() -> None:
    description = describe([0.5] * 8)
    assert description.note == "all 8 values equal"
    assert description.sd == 0
    assert description.sd_interval == description.mean_interval == Unavailable(Reason.EQUAL(8))


@pytest.mark.parametrize("is_candidate", [False, True])
def test_equal_values_on_a_side_are_one_observation_which_nothing_can_be_tested_by(*, is_candidate: bool) -> None:
    sides = ([0.5] * 10, sample(0.7, 0.1, 10))
    result = compared(*(sides[::-1] if is_candidate else sides), margin=0.1)
    side = "candidate" if is_candidate else "baseline"
    reason = f"{side}: all 10 values equal"
    assert (result.verdict.word, verdict_reason(result)) == ("undecided", reason)
    assert {result.welch, result.mann_whitney, result.permutation, result.difference_interval} == {Unavailable(reason)}
    assert result.p_adjusted == result.equivalence == result.sd_ratio == Unavailable(reason)


def test_equal_constants_are_identical() -> None:
    result = compared([0.5] * 8, [0.5] * 8)
    assert result.verdict.word == "identical"
    assert result.difference == 0
    assert result.welch == Unavailable(Reason.IDENTICAL)
    assert result.mann_whitney == Unavailable(Reason.IDENTICAL)


def test_different_constants_show_no_spread_and_no_test() -> None:
    result = compared([0.5] * 8, [0.75] * 8)
    assert result.verdict.word == "undecided"
    assert verdict_reason(result) == "constant difference 0.25 in 8 v 8 runs, no spread observed"
    assert result.welch == result.cohens_d == Unavailable(Reason.CONSTANT_DIFFERENCE)
    assert result.mann_whitney == result.permutation == Unavailable(Reason.CONSTANT_DIFFERENCE)


def test_spread_below_resolution_gives_no_ratio() -> None:
    result = compared(CASES["an ulp apart"], CASES["eight"])
    assert isinstance(result.sd_ratio, Unavailable)
    assert "below resolution" in result.sd_ratio.reason
    assert "below resolution (2.2e-16)" in result.baseline.note


def test_nan_and_infinity_are_missing_with_their_replicate() -> None:
    description = describe([0.9, math.nan, 0.8, math.inf])
    assert [replicate for replicate, _ in description.missing] == [1, 3]
    assert description.n == 2
    assert welch([0.9, math.nan, 0.8], [1, 2, 3]) == Unavailable(Reason.NO_NUMBER)


def test_many_ties_are_permuted_and_repeatable() -> None:
    first, second = (compared(CASES["eight with ties"] * 2, CASES["eight"] * 2).mann_whitney for _ in range(2))
    assert isinstance(first, Test)
    assert first.note.startswith("permutation, 9999 resamples, ")
    assert first.note.endswith(" ties")
    assert first == second


def test_complete_separation_states_itself_and_bounds_superiority_on_one_side() -> None:
    result = compared([1.0, 2, 3, 4, 5, 6, 7, 8], [11.0, 12, 13, 14, 15, 16, 17, 18])
    assert isinstance(result.mann_whitney, Test)
    assert result.mann_whitney.note == "exact, complete separation, 0 of 64 pairs against"
    assert result.superiority == 1
    assert isinstance(result.superiority_interval, Interval)
    assert result.superiority_interval.high == 1
    assert result.superiority_interval.low == pytest.approx(0.05 ** (1 / 8))


@pytest.mark.parametrize("name", ["zeros", "around zero"])
def test_a_mean_near_zero_has_no_coefficient_of_variation(name: str) -> None:
    described: Description = describe(CASES[name])
    assert isinstance(described.cv, Unavailable)
    assert described.cv.kind in (Reason.NEAR_ZERO, Reason.NOT_POSITIVE)


def test_a_mean_that_runs_cannot_tell_from_zero_has_no_coefficient_of_variation() -> None:
    assert coefficient_of_variation([0.001, 0.002, 0.5]) == Unavailable(Reason.NEAR_ZERO)


def test_equal_distances_from_the_median_have_no_variance_test() -> None:
    result = brown_forsythe([0.0, 1.0] * 5, [4.0, 8.0] * 5)
    assert result == Unavailable(Reason.EQUALLY_FAR("median"))


def test_the_variance_test_needs_ten_runs_in_each() -> None:
    assert brown_forsythe(CASES["eight"], CASES["many"]) == Unavailable(Reason.TOO_FEW_EACH(10, "run", 8, 60))
