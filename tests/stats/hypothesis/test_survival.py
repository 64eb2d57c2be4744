"""Kaplan-Meier, its median, and the log-rank test, against R and scipy, and by simulation where runs are few."""

import math

import numpy as np
import pytest
from samples import close
from scipy import stats

from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.hypothesis.permutation import arrangements
from deviate.stats.hypothesis.survival import kaplan_meier, log_rank, survival_median, survival_median_interval

Sample = tuple[list[float], list[bool]]


def sample(times: list[float], reached: str) -> Sample:
    return [float(time) for time in times], [it == "1" for it in reached]


MAINTAINED = sample([9, 13, 13, 18, 23, 28, 31, 34, 45, 48, 161], "11011011010")
NOT_MAINTAINED = sample([5, 5, 8, 8, 12, 16, 23, 27, 30, 33, 43, 45], "111110111111")
FIVE, SIX = sample([3, 4, 5, 6, 7], "11111"), sample([3, 4, 5, 6, 7, 8], "111111")
HALF = sample([3, 4, 4, 9, 9, 9, 9, 9], "11100100")

# R 4.2.2, survival 3.5-3:
#   s <- survfit(Surv(t, d) ~ 1, conf.type = "log-log"); quantile(s, .5); s$surv
MEDIANS = [
    (MAINTAINED, 31, 13, math.inf),
    (NOT_MAINTAINED, 23, 5, 33),
    (FIVE, 5, 3, math.inf),
    (SIX, 5.5, 3, math.inf),
    (HALF, 9, 3, math.inf),
]


@pytest.mark.parametrize(("data", "median", "low", "high"), MEDIANS)
def test_the_median_and_its_interval_are_those_of_r(data: Sample, median: float, low: float, high: float) -> None:
    survival = kaplan_meier(*data)
    assert survival_median(survival) == median
    interval = survival_median_interval(survival, len(data[0]))
    assert isinstance(interval, Interval)
    assert (interval.low, interval.high) == (low, high)
    assert bool(interval.note) == math.isinf(high)


def test_the_curve_is_that_of_r() -> None:
    theirs = [0.9090909091, 0.8181818182, 0.7159090909, 0.6136363636, 0.4909090909, 0.3681818182, 0.1840909091]
    found = kaplan_meier(*MAINTAINED)
    assert found.share[0] == 1
    assert found.share[1:] == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("data", [MAINTAINED, NOT_MAINTAINED, FIVE, HALF])
def test_the_curve_is_that_of_scipy(data: Sample) -> None:
    times, reached = (np.asarray(column) for column in data)
    theirs = stats.ecdf(stats.CensoredData(times[reached], right=times[~reached])).sf
    ours = kaplan_meier(*data)
    assert [float(theirs.evaluate(time)) for time in ours.times] == pytest.approx(list(ours.share))


def test_without_censoring_the_median_is_the_median() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 8):
        times = rng.permutation(20)[:n].astype(float)
        assert survival_median(kaplan_meier(times.tolist(), [True] * n)) == np.median(times)


def test_where_fewer_than_half_get_there_is_no_median() -> None:
    survival = kaplan_meier([1.0, 2.0, 9.0, 9.0, 9.0], [True, True, False, False, False])
    assert isinstance(survival_median(survival), Unavailable)
    nobody = kaplan_meier([9.0] * 5, [False] * 5)
    assert nobody.share == (1.0,)
    assert isinstance(survival_median_interval(nobody, 5), Unavailable)


def test_an_interval_needs_five_runs_and_times_that_differ() -> None:
    few = survival_median_interval(kaplan_meier([1.0, 2.0, 3.0, 4.0], [True] * 4), 4)
    assert few == Unavailable(Reason.TOO_FEW(5, "run", 4))
    alike = survival_median_interval(kaplan_meier([3.0] * 5, [True] * 5), 5)
    assert alike == Unavailable(Reason.REACHED_TOGETHER)


# R 4.2.2, survival 3.5-3: r <- survdiff(Surv(t, d) ~ g); c(r$obs, r$exp, r$var[1, 1], r$chisq, r$pvalue)
#   7 11 10.68933599 7.310664008 4.007550746 3.396388699 0.06533932204
#   4 5 5.833333333 3.166666667 1.427777778 2.354085603 0.1249551355
TIED = sample([3, 4, 4, 6, 10], "11110"), sample([2, 3, 3, 4, 5], "11111")


@pytest.mark.parametrize(("one", "other", "square"), [(MAINTAINED, NOT_MAINTAINED, 3.396388699), (*TIED, 2.354085603)])
def test_the_log_rank_statistic_is_that_of_r(one: Sample, other: Sample, square: float) -> None:
    found = log_rank(other, one)
    assert isinstance(found, Test)
    assert close(found.statistic**2, square, 1e-8)
    assert found.statistic < 0  # the candidate is later
    swapped = log_rank(one, other)
    assert isinstance(swapped, Test)
    assert close(swapped.statistic, -found.statistic)


def test_the_log_rank_statistic_is_that_of_scipy() -> None:
    sides = [stats.CensoredData.right_censored(time, ~np.array(it)) for time, it in (MAINTAINED, NOT_MAINTAINED)]
    found = log_rank(NOT_MAINTAINED, MAINTAINED)
    assert isinstance(found, Test)
    assert close(found.statistic, float(stats.logrank(*sides).statistic), 1e-8)


def test_its_p_is_the_share_of_arrangements_at_least_as_extreme() -> None:
    found = log_rank(TIED[1], TIED[0])
    assert isinstance(found, Test)
    times, reached = [*TIED[0][0], *TIED[1][0]], [*TIED[0][1], *TIED[1][1]]
    squares = []
    for members in arrangements(5, 5)[0]:
        sides = [[i for i in range(10) if members[i] == side] for side in (1, 0)]
        data = [
            stats.CensoredData.right_censored([times[i] for i in side], [not reached[i] for i in side])
            for side in sides
        ]
        squares.append(float(stats.logrank(*data).statistic) ** 2)
    assert len(squares) == 126  # and as many mirrored ones
    assert close(found.p_value, float(np.mean(np.array(squares) >= found.statistic**2 - 1e-9)))
    assert found.note == "exact permutation"


def test_log_rank_needs_five_runs_and_somebody_who_gets_there() -> None:
    four = sample([1, 2, 3, 4], "1111")
    assert log_rank(FIVE, four) == Unavailable(Reason.TOO_FEW_EACH(5, "run", 5, 4))
    never = sample([9] * 5, "00000")
    assert log_rank(never, never) == Unavailable(Reason.FEW_REACHED)
    at_once = sample([3] * 5, "11111")
    assert isinstance(log_rank(at_once, at_once), Unavailable)


def test_a_side_that_never_gets_there_is_told_from_one_that_does() -> None:
    found = log_rank(sample([9] * 5, "00000"), FIVE)
    assert isinstance(found, Test)
    assert found.p_value == 2 / 252
    assert found.statistic > 0


def test_many_runs_are_exchanged_at_random_and_always_give_the_same_p() -> None:
    rng = np.random.default_rng(3)
    sides = [(rng.exponential(size=60).tolist(), (rng.random(60) < 0.8).tolist()) for _ in range(2)]
    first, again = (log_rank(sides[0], sides[1]) for _ in range(2))
    assert first == again
    turned = [(times[::-1], reached[::-1]) for times, reached in sides]
    assert log_rank(turned[0], turned[1]) == first
    assert isinstance(first, Test)
    assert first.note == "permutation, 9999 resamples"
    asymptotic = 2 * float(stats.norm.sf(abs(first.statistic)))
    assert abs(first.p_value - asymptotic) < 0.02


@pytest.mark.parametrize("budgets", [(math.inf, math.inf), (1.3, 1.3), (math.inf, 0.9)])
def test_at_five_runs_the_log_rank_test_rejects_equal_sides_in_at_most_six_percent(
    budgets: tuple[float, float],
) -> None:
    """Times to the third digit and whole ones, sides cut at the same or at different times; 600 comparisons each."""
    rng = np.random.default_rng(11)
    for digits in (3, 0):
        rejected = 0
        for _ in range(600):
            times = np.round(5 * np.exp(0.3 * rng.standard_normal((2, 5))), digits) / 5
            sides = [
                (np.minimum(side, budget).tolist(), (side <= budget).tolist())
                for side, budget in zip(times, budgets, strict=True)
            ]
            found = log_rank(*sides)
            rejected += isinstance(found, Test) and found.p_value <= 0.05
        # 0.05 and twice the standard error of 600 comparisons
        assert rejected / 600 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 600)
