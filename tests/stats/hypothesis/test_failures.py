"""Failures as outcomes: completion rates, their comparison, and failed runs ranked worst."""

import math

import numpy as np
import pytest
from samples import close, experiment, metric, run
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from deviate.model.comparisons import Completion, Description
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Status
from deviate.stats.describe import describe, describe_runs
from deviate.stats.hypothesis.failures import compare_completion, completion, rate_interval, rate_test, worst_rank

ACC = metric("acc")


def described(scores: list[float], failed: list[Status], *, direction: str | None = "max") -> Description:
    measure = metric("acc", direction=direction)  # type: ignore[arg-type]
    runs = [run(len(scores) + index, {"acc": [math.nan]}, status) for index, status in enumerate(failed)]
    return describe_runs(experiment("e", [measure], {"acc": scores}, runs=runs), measure)


def ended(*statuses: Status) -> Completion:
    return completion(experiment("e", [ACC], {}, runs=[run(i, {"acc": [1.0]}, it) for i, it in enumerate(statuses)]))


def test_runs_that_were_lost_or_cancelled_count_for_nothing() -> None:
    found = ended("completed", "lost", "diverged", "completed", "cancelled", "crashed", "crashed", "silent")
    assert (found.n_completed, found.n_runs, found.rate) == (2, 6, 2 / 6)
    assert found.outcomes == (("completed", 2), ("diverged", 1), ("crashed", 2), ("silent", 1))


def test_without_a_run_that_ended_there_is_no_rate() -> None:
    found = ended("lost")
    assert found.rate == found.interval == Unavailable(Reason.NONE_ENDED)
    compared = compare_completion(found, ended("completed"))
    assert isinstance(compared.difference, Unavailable)
    assert isinstance(compared.test, Unavailable)


@pytest.mark.parametrize(("k", "low", "high"), [(10, 0.6915, 1), (9, 0.5550, 0.9975), (8, 0.4439, 0.9748)])
def test_the_interval_of_a_rate_is_that_of_clopper_and_pearson(k: int, low: float, high: float) -> None:
    interval = rate_interval(k, 10)
    assert isinstance(interval, Interval)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_intervals_of_rates_equal_those_of_statsmodels(n: int) -> None:
    for k in range(n + 1):
        interval = rate_interval(k, n, confidence=0.9)
        assert isinstance(interval, Interval)
        theirs = proportion_confint(k, n, alpha=0.1, method="beta")
        assert close(interval.low, float(np.nan_to_num(theirs[0])))
        assert close(interval.high, theirs[1])


def boschloo(k_b: int, n_b: int, k_a: int, n_a: int) -> float:
    """Largest probability, over a common rate, of tables on which Fisher's p is at most the observed one."""
    fisher = np.array(
        [[stats.fisher_exact([[i, j], [n_a - i, n_b - j]]).pvalue for j in range(n_b + 1)] for i in range(n_a + 1)]
    )
    rejected = fisher <= fisher[k_a, k_b] * (1 + 1e-7)
    rates = np.linspace(0, 1, 1001)[:, None]
    one, other = (stats.binom.pmf(np.arange(n + 1), n, rates) for n in (n_a, n_b))
    return float(np.einsum("ri,ij,rj->r", one, rejected, other).max())


def test_boschloos_test_equals_its_definition() -> None:
    """The doubled one-sided p of scipy equals the two-sided definition where sides are of one size."""
    test = rate_test((10, 10), (8, 10))
    assert isinstance(test, Test)
    assert abs(test.p_value - boschloo(10, 10, 8, 10)) < 1e-4
    assert round(test.p_value, 3) == 0.263
    fisher = stats.fisher_exact([[8, 10], [2, 0]]).pvalue
    assert round(float(fisher), 3) == 0.474
    assert test.p_value < fisher


def test_the_rate_test_holds_its_level_whatever_the_common_rate() -> None:
    n_b, n_a = 5, 8
    p_values = np.ones((n_b + 1, n_a + 1))
    for k_b in range(n_b + 1):
        for k_a in range(n_a + 1):
            test = rate_test((k_b, n_b), (k_a, n_a))
            if isinstance(test, Test):
                p_values[k_b, k_a] = test.p_value
    rates = np.linspace(0, 1, 101)[:, None]
    one, other = (stats.binom.pmf(np.arange(n + 1), n, rates) for n in (n_b, n_a))
    assert np.einsum("ri,ij,rj->r", one, p_values <= 0.05, other).max() <= 0.05


def test_rates_of_many_runs_are_compared_by_fishers_test() -> None:
    test = rate_test((990, 1000), (960, 1000))
    assert isinstance(test, Test)
    assert test.name == "Fisher"
    assert close(test.p_value, float(stats.fisher_exact([[960, 990], [40, 10]]).pvalue))


@pytest.mark.parametrize(("k", "reason"), [(5, Reason.NONE_FAILED), (0, Reason.ALL_FAILED)])
def test_equal_rates_of_one_or_zero_are_no_question(k: int, reason: str) -> None:
    test = rate_test((k, 5), (k, 5))
    assert isinstance(test, Unavailable)
    assert test.reason.startswith(reason)


def test_the_difference_of_rates_is_candidate_less_baseline() -> None:
    compared = compare_completion(ended(*["completed"] * 4), ended("completed", "crashed", "crashed", "timed_out"))
    assert compared.difference == -0.75
    assert isinstance(compared.test, Test)


@pytest.mark.parametrize(("direction", "worst"), [("max", -1e9), ("min", 1e9)])
def test_failed_runs_rank_below_every_score_in_the_direction_of_the_metric(direction: str, worst: float) -> None:
    b, a = [1.0, 2.0, 3.0, 4.0, 5.0], [2.5, 3.5, 4.5]
    test = worst_rank(
        described(b, [], direction=direction),
        described(a, ["diverged", "timed_out"], direction=direction),
    )
    assert isinstance(test, Test)
    ours = stats.mannwhitneyu([*a, worst, worst], b)
    assert test.statistic == ours.statistic
    exact = stats.permutation_test(
        ([*a, worst, worst], b), lambda x, y: stats.mannwhitneyu(x, y).statistic, n_resamples=10_000
    )
    assert close(test.p_value, float(exact.pvalue))
    assert test.note.startswith("exact permutation")


def test_failures_on_one_side_can_turn_the_order_of_the_scores() -> None:
    better = [5.0 + 0.1 * i for i in range(4)]
    baseline = described([1.0 + 0.1 * i for i in range(8)], [])
    test = worst_rank(baseline, described(better, ["crashed"] * 6))
    assert isinstance(test, Test)
    assert test.statistic < 40


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        (described([1.0, 2.0], []), "no run failed"),
        (described([1.0, 2.0], ["crashed"], direction=None), "the metric has no direction"),
        (described([1.0], ["crashed"]), "needs 4 runs in each"),
        (described([], ["crashed"] * 4), "every run failed"),
    ],
)
def test_without_failures_direction_or_runs_there_is_no_worst_rank_analysis(
    candidate: Description, reason: str
) -> None:
    baseline = candidate if not candidate.scores or candidate.metric.direction is None else described([3.0, 4.0], [])
    test = worst_rank(baseline, candidate)
    assert isinstance(test, Unavailable)
    assert test.reason.startswith(reason)


def test_a_run_without_a_value_where_it_counts_did_not_fail() -> None:
    at_ten = metric("acc", aggregate="at:10")
    runs = [run(5, {"acc": [1.0]}), run(6, {"acc": [1.0]}, "crashed")]
    scores = {"acc": [float(i) for i in range(5)]}
    late = describe_runs(experiment("e", [metric("acc")], scores, runs=[runs[1]]), metric("acc"))
    early = describe_runs(experiment("e", [at_ten], {}, runs=[runs[0]]), at_ten)
    mixed = Description(
        **{**{name: getattr(late, name) for name in late.__slots__}, "missing": late.missing + early.missing}
    )
    test = worst_rank(mixed, mixed)
    assert isinstance(test, Test)
    assert test.note.endswith("2 runs without a score left out")


def test_scores_that_are_not_finite_rank_worst_as_well() -> None:
    baseline = describe([1.0, 2.0, 3.0, 4.0], direction="max")
    candidate = describe([5.0, 6.0, 7.0, math.inf], direction="max")
    test = worst_rank(baseline, candidate)
    assert isinstance(test, Test)
    assert test.statistic == 12
