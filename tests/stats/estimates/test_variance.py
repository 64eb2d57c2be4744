"""Shares, excess and ratios of means against scipy, and their coverage under repetition."""

import math

import numpy as np
import pytest
from samples import sample
from scipy import optimize
from scipy import stats as scipy_stats

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.estimates.overhead import mean_ratio, mean_ratio_interval
from deviate.stats.estimates.spread import (
    variance_excess,
    variance_excess_interval,
    variance_share,
    variance_share_interval,
)

REPETITIONS = 800
FOUR_ERRORS = 4 * (0.05 * 0.95 / REPETITIONS) ** 0.5


def found(value: Interval | Unavailable) -> Interval:
    assert isinstance(value, Interval)
    return value


def test_the_share_is_the_square_of_the_ratio_with_the_f_interval_of_variances() -> None:
    whole, part = sample(93, 0.83, 10), sample(93, 0.31, 10)
    share = variance_share(whole, part)
    assert share == pytest.approx((0.31 / 0.83) ** 2, rel=1e-9)
    interval = found(variance_share_interval(whole, part))
    f = scipy_stats.f.ppf(0.975, 9, 9)
    assert (interval.low, interval.high) == pytest.approx((share / f, share * f), rel=1e-9)
    assert interval.method == "F, normal theory"


def test_variances_of_zhuang_et_al_do_not_add_up_but_ten_runs_do_not_prove_it() -> None:
    both, algo, impl = sample(62.28, 0.83, 10), sample(61.44, 0.41, 10), sample(61.61, 0.31, 10)
    assert variance_share(both, impl) == pytest.approx(1 / 7.169, rel=1e-4)
    assert variance_excess(both, algo, impl) == pytest.approx(0.83**2 - 0.41**2 - 0.31**2, rel=1e-9)
    interval = found(variance_excess_interval(both, algo, impl))
    assert interval.low < 0 < interval.high


def test_the_interval_of_the_excess_joins_the_chi_square_distances() -> None:
    both, algo, impl = sample(0, 2, 8), sample(0, 1, 6), sample(0, 0.5, 5)
    chi = scipy_stats.chi2

    def ends(variance: float, n: int) -> tuple[float, float]:
        return (n - 1) * variance / chi.ppf(0.975, n - 1), (n - 1) * variance / chi.ppf(0.025, n - 1)

    (l1, u1), (l2, u2), (l3, u3) = ends(4, 8), ends(1, 6), ends(0.25, 5)
    interval = found(variance_excess_interval(both, algo, impl))
    assert interval.low == pytest.approx(2.75 - math.sqrt((4 - l1) ** 2 + (u2 - 1) ** 2 + (u3 - 0.25) ** 2), rel=1e-9)
    assert interval.high == pytest.approx(2.75 + math.sqrt((u1 - 4) ** 2 + (1 - l2) ** 2 + (0.25 - l3) ** 2), rel=1e-9)


def test_a_part_without_spread_leaves_the_whole_less_the_other_part() -> None:
    both, algo = sample(0, 2, 8), sample(0, 1, 8)
    assert variance_excess(both, algo, [5.0] * 4) == pytest.approx(3.0)
    interval = found(variance_excess_interval(both, algo, [5.0] * 4))
    assert interval.low < 3 < interval.high


@pytest.mark.parametrize(
    ("three", "reason"),
    [
        (([1.0], [1.0, 2.0], [1.0, 2.0]), "needs 2 runs, has 1"),
        (([1.0, 1.0], [1.0, 1.0], [2.0, 2.0]), "no spread"),
    ],
)
def test_an_excess_that_there_is_not_has_its_reason(three: tuple[list[float], ...], reason: str) -> None:
    assert variance_excess(*three) == Unavailable(reason)
    assert variance_excess_interval(*three) == Unavailable(reason)


@pytest.mark.parametrize("is_seed_shared", [False, True])
@pytest.mark.parametrize(("n", "sd_algo", "sd_impl"), [(5, 1.0, 1.0), (10, 1.0, 0.1), (20, 0.4, 0.3)])
def test_the_interval_of_the_excess_covers_at_least_as_often_as_it_says(
    n: int, sd_algo: float, sd_impl: float, *, is_seed_shared: bool
) -> None:
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(REPETITIONS):
        algo, impl = rng.normal(0, sd_algo, n), rng.normal(0, sd_impl, n)
        both = (algo if is_seed_shared else rng.normal(0, sd_algo, n)) + rng.normal(0, sd_impl, n)
        interval = found(variance_excess_interval(both.tolist(), algo.tolist(), impl.tolist()))
        covered += interval.low <= 0 <= interval.high
    assert covered / REPETITIONS > 0.95 - FOUR_ERRORS


@pytest.mark.parametrize(
    ("correlation", "fewest", "most"), [(0.0, 0.95 - FOUR_ERRORS, 0.95 + FOUR_ERRORS), (0.8, 0.95, 1)]
)
def test_the_interval_of_a_share_covers_what_it_says_and_more_when_seeds_are_shared(
    correlation: float, fewest: float, most: float
) -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(REPETITIONS):
        common = rng.normal(size=8) * math.sqrt(correlation)
        one, other = (common + rng.normal(size=8) * math.sqrt(1 - correlation) for _ in range(2))
        interval = found(variance_share_interval(one.tolist(), (0.5 * other).tolist()))
        covered += interval.low <= 0.25 <= interval.high
    assert fewest <= covered / REPETITIONS <= most


def test_the_ends_of_fiellers_interval_are_where_welchs_t_is_critical() -> None:
    below, above = sample(40, 2, 7), sample(46, 5, 5)
    interval = found(mean_ratio_interval(below, above))
    ratio = 46 / 40
    se_above, se_below = 25 / 5, 4 / 7
    share = se_above / (se_above + ratio**2 * se_below)
    df = 1 / (share**2 / 4 + (1 - share) ** 2 / 6)
    critical = scipy_stats.t.ppf(0.975, df)

    def excess(r: float) -> float:
        return float(abs(46 - r * 40) / math.sqrt(se_above + r**2 * se_below) - critical)

    assert interval.low == pytest.approx(optimize.brentq(excess, 0.5, ratio), rel=1e-9)
    assert interval.high == pytest.approx(optimize.brentq(excess, ratio, 3), rel=1e-9)


def test_fiellers_interval_covers_about_ninety_five_percent() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(REPETITIONS):
        below, above = rng.normal(10, 0.5, 5).tolist(), rng.normal(13, 2, 5).tolist()
        interval = found(mean_ratio_interval(below, above))
        covered += interval.low <= 1.3 <= interval.high
    assert covered / REPETITIONS == pytest.approx(0.95, abs=FOUR_ERRORS)


def test_times_that_vary_too_much_have_no_interval_of_their_ratio() -> None:
    assert isinstance(mean_ratio_interval([1.0, 100.0], [50.0, 51.0]), Unavailable)
    assert isinstance(mean_ratio_interval([1.0, 1.0], [2.0, 2.0]), Unavailable)
    assert mean_ratio([0.0, 0.0], [2.0]) == Unavailable(Reason.NOT_POSITIVE)
