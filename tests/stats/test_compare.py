"""A comparison as a whole: every field is what the function of its name gives, at every standing among looks."""

from dataclasses import replace

import numpy as np
import pytest
from samples import experiment, metric, sample

from deviate.model.comparisons import Comparison, Equivalence, Paired, SpreadVerdict
from deviate.model.estimates import NOT_ASKED, Interval, Test, Unavailable
from deviate.model.findings import ExperimentFindings, PairFindings
from deviate.model.records import Experiment
from deviate.report.advice import pairing_warnings
from deviate.stats.compare import compare
from deviate.stats.describe import describe_runs
from deviate.stats.design.group_sequential import SpendingPlan, at_look, repeated_p
from deviate.stats.estimates.bootstrap import Resamples
from deviate.stats.hypothesis.both import equivalence
from deviate.stats.multiple.pairs import compare_all
from deviate.stats.options import AnalysisOptions
from deviate.stats.registry import STATISTICS

LOOKS = (5, 10, 20)
OF_OTHERS = {"worst_rank", "curve", "attainment"}
"""Fields that need more than the scores of the runs that completed."""


def drawn(n: int, mean: float, sd: float = 1.0, seed: int = 0) -> list[float]:
    return np.random.default_rng(seed).normal(mean, sd, n).tolist()


def test_every_field_is_what_the_function_of_its_name_gives() -> None:
    b, a = drawn(20, 90), drawn(17, 91, 2.0, seed=1)
    result = compare(b, a, rng=np.random.default_rng(5), direction="max", margin=0.5)
    for name in ("welch", "student", "kolmogorov_smirnov", "levene", "brown_forsythe", "glass_delta", "cliffs_delta"):
        assert getattr(result, name) == STATISTICS[name].function(b, a), name
    for name in ("cliffs_delta_interval", "superiority_interval", "hedges_g_interval", "detectable_interval"):
        assert getattr(result, name) == STATISTICS[name].function(b, a), name
    assert result.equivalence == equivalence(b, a, margin=0.5, direction="max")
    for name in ("permutation", "difference_bootstrap", "sd_ratio_bootstrap", "glass_delta_interval"):
        assert not isinstance(getattr(result, name), Unavailable), name


def test_what_nobody_asked_for_is_not_there() -> None:
    result = compare(drawn(9, 0), drawn(9, 1, seed=1), rng=np.random.default_rng(0))
    assert {result.equivalence, result.paired} == {NOT_ASKED}
    assert {getattr(result, name) for name in OF_OTHERS} == {NOT_ASKED}
    assert not result.is_paired


def test_the_same_generator_gives_the_same_comparison() -> None:
    b, a = [0.1, 0.2, 0.2, 0.3, 0.4, 0.4] * 4, [0.2, 0.3, 0.3, 0.4, 0.5, 0.5] * 4
    first, second, other = (compare(b, a, rng=np.random.default_rng(seed), is_paired=True) for seed in (1, 1, 2))
    assert first == second
    assert first.sd_ratio_bootstrap != other.sd_ratio_bootstrap
    assert (first.permutation, first.mann_whitney) == (other.permutation, other.mann_whitney)  # of all seeds


def findings(
    scores: dict[str, list[list[float]]], *, looks: tuple[int, ...] = (), unplanned: int = 0
) -> list[ExperimentFindings]:
    """One experiment per name with the metrics m0, m1 and so on, the first of them primary with a margin."""
    made = []
    for name, columns in scores.items():
        metrics = [metric(f"m{i}", is_primary=i == 0, margin=0.5 if i == 0 else None) for i in range(len(columns))]
        one: Experiment = experiment(name, metrics, {f"m{i}": column for i, column in enumerate(columns)})
        one = replace(one, looks=looks, n_unplanned_looks=unplanned)
        made.append(ExperimentFindings(one, tuple(describe_runs(one, it) for it in metrics)))
    return made


def pairs_of(
    described: list[ExperimentFindings], *, is_paired: bool = False, spread_ratio: float | None = None
) -> tuple[PairFindings, ...]:
    options = AnalysisOptions(is_paired=is_paired, spread_ratio=spread_ratio)
    return compare_all(described, options, is_chosen_after=False, resamples=Resamples(np.random.default_rng(0)))


def only(described: list[ExperimentFindings], *, is_paired: bool = False) -> Comparison:
    (pair,) = pairs_of(described, is_paired=is_paired)
    return pair.comparisons[0]


def all_tests(comparison: Comparison) -> dict[str, Test]:
    paired = comparison.paired
    found = {name: getattr(comparison, name) for name in Comparison.__slots__}
    if isinstance(paired, Paired):
        found |= {"paired t": paired.t_test, "wilcoxon": paired.wilcoxon}
    return {name: it for name, it in found.items() if isinstance(it, Test)}


def all_intervals(comparison: Comparison) -> dict[str, Interval]:
    paired = comparison.paired
    found = {name: getattr(comparison, name) for name in Comparison.__slots__ if name != "detectable_interval"}
    if isinstance(paired, Paired):
        found |= {"paired": paired.interval}
    return {name: it for name, it in found.items() if isinstance(it, Interval)}


@pytest.mark.parametrize("is_paired", [False, True])
def test_after_unplanned_looks_every_test_and_interval_is_marked_and_nothing_is_decided(is_paired: bool) -> None:  # noqa: FBT001
    sides = {"a": [drawn(20, 0)], "b": [drawn(20, 0.1, 3.0, seed=1)]}
    comparison = only(findings(sides, unplanned=2), is_paired=is_paired)
    mark = "not valid: 2 unplanned looks"
    assert len(all_tests(comparison)) == (9 if is_paired else 7)
    assert all(it.note.endswith(mark) for it in all_tests(comparison).values())
    assert len(all_intervals(comparison)) == (10 if is_paired else 9)
    assert all(it.note == mark for it in all_intervals(comparison).values())
    assert comparison.equivalence == comparison.p_adjusted == Unavailable(mark)
    assert comparison.spread_verdict == SpreadVerdict("undecided", mark)
    assert comparison.verdict.word == "withheld"


def test_between_looks_there_is_no_test_and_no_interval_at_all() -> None:
    sides = {"a": [drawn(18, 0)], "b": [drawn(18, 0.1, 3.0, seed=1)]}
    comparison = only(findings(sides, looks=LOOKS), is_paired=True)
    assert (all_tests(comparison), all_intervals(comparison)) == ({}, {})
    assert isinstance(comparison.equivalence, Unavailable)
    assert comparison.spread_verdict == SpreadVerdict("undecided", "no look is declared at 18 runs")


def test_at_a_look_pairs_are_decided_by_their_repeated_p_and_all_else_is_nominal() -> None:
    b = drawn(10, 0)
    a = [x + y for x, y in zip(b, drawn(10, 1.0, 0.6, seed=1), strict=True)]
    comparison = only(findings({"a": [b], "b": [a]}, looks=LOOKS), is_paired=True)
    plan = SpendingPlan(LOOKS)
    critical = at_look(plan, 2)
    assert isinstance(comparison.paired, Paired)
    assert isinstance(comparison.paired.t_test, Test)
    assert isinstance(comparison.difference_interval, Interval)
    assert comparison.paired.t_test.note.startswith("critical p at look 2 of 3")
    assert isinstance(comparison.paired.sign_flips, Test)
    assert comparison.paired.sign_flips.note.endswith(f"exact permutation, {comparison.paired.t_test.note}")
    larger = max(comparison.paired.t_test.p_value, comparison.paired.sign_flips.p_value)
    assert comparison.p_adjusted == pytest.approx(repeated_p(plan, 2, larger))
    assert comparison.difference_interval.method == "paired t and sign flips, repeated at look 2 of 3"
    assert comparison.difference_interval.confidence == pytest.approx(1 - critical)
    assert isinstance(comparison.paired.interval, Interval)
    assert comparison.difference_interval.low <= comparison.paired.interval.low
    others = {name: it for name, it in all_tests(comparison).items() if name != "paired t"}
    assert others.keys() > {"welch", "wilcoxon", "permutation", "kolmogorov_smirnov", "levene"}
    assert all(it.note.endswith("nominal") for it in others.values())
    assert isinstance(comparison.equivalence, Equivalence)
    assert comparison.equivalence.interval.confidence == pytest.approx(1 - 2 * critical)
    assert comparison.equivalence.above.note.endswith("one-sided, nominal")


def test_pairing_is_a_matter_of_the_whole_family() -> None:
    b = [drawn(8, 0), drawn(8, 5, seed=2)]
    a = [[x + 0.5 for x in drawn(8, 0, 1.1)], [10.5 - x for x in drawn(8, 5, seed=2)]]
    (pair,) = pairs_of(findings({"a": b, "b": a}), is_paired=True)
    assert all(it.is_paired and isinstance(it.paired, Paired) for it in pair.comparisons)
    primary, secondary = pair.comparisons
    for comparison in (primary, secondary):
        assert isinstance(comparison.deciding_test, Test)
        assert comparison.p_adjusted == comparison.deciding_test.p_value
    assert secondary.note.startswith("pairing cost power")
    assert primary.note == ""


def test_pairs_that_lost_a_half_and_pairing_that_cost_power_are_warned_of() -> None:
    scores = {"a": [drawn(8, 0)], "b": [drawn(7, 0, seed=3)]}
    pairs = pairs_of(findings(scores), is_paired=True)
    lost, cost = pairing_warnings(pairs)
    assert lost == "m0: replicate 7 has a score in only one of a and b: 7 pairs left."
    assert cost.startswith("b against a, m0: pairing cost power")
    assert pairing_warnings(pairs_of(findings(scores))) == []


def test_no_p_depends_on_which_other_metrics_there_are() -> None:
    ties = [[0.1, 0.2, 0.2, 0.3, 0.4, 0.4, 0.1, 0.9, 0.9] for _ in range(2)]
    b, a = [drawn(9, 0), ties[0]], [drawn(9, 1, seed=1), [x + 0.1 for x in ties[1]]]
    (both,) = pairs_of(findings({"a": b, "b": a}))
    (alone,) = pairs_of(findings({"a": b[1:], "b": a[1:]}))
    for name in ("mann_whitney", "permutation", "difference_bootstrap", "sd_ratio_bootstrap"):
        assert getattr(both.comparisons[1], name) == getattr(alone.comparisons[0], name)


def test_a_ratio_of_spreads_that_was_given_is_handed_to_every_comparison() -> None:
    sides = {"a": [sample(0, 1, 60)], "b": [sample(0, 1, 60)]}
    (without,), (given,) = (pairs_of(findings(sides), spread_ratio=it) for it in (None, 1.7))
    words = [it.comparisons[0].spread_verdict for it in (without, given)]
    assert all(isinstance(it, SpreadVerdict) for it in words)
    assert [it.word for it in words if isinstance(it, SpreadVerdict)] == ["undecided", "undecided"]
    assert [it.is_within for it in words if isinstance(it, SpreadVerdict)] == [False, True]
