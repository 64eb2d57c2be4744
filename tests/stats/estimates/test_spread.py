from dataclasses import replace

import numpy as np
import pytest
from samples import sample
from scipy import stats as scipy_stats

from deviate.model.comparisons import SpreadVerdict
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.describe import describe
from deviate.stats.estimates.effect import sd_ratio_interval
from deviate.stats.estimates.spread import brown_forsythe, decide_spread, f_test, levene


def verdict(n: int, sd: float, *, spread_ratio: float | None = None, tails: str = "") -> SpreadVerdict:
    """Of a candidate with this SD against a baseline with 1."""
    b, a = sample(0, 1, n), sample(9, sd, n)
    sides = [replace(describe(values), tails="") for values in (b, a)]
    return decide_spread(
        sides[0],
        replace(sides[1], tails=tails),
        brown_forsythe=brown_forsythe(b, a),
        confidence=0.95,
        spread_ratio=spread_ratio,
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("ours", "center"), [(brown_forsythe, "median"), (levene, "mean")])
def test_tests_of_spread_are_those_of_scipy(ours, center: str, seed: int) -> None:  # type: ignore[no-untyped-def]
    draws = np.random.default_rng(seed)
    b, a = draws.normal(0, 1, 14), draws.normal(5, 2, 11)
    expected = scipy_stats.levene(a, b, center=center)
    result = ours(b.tolist(), a.tolist())
    assert (result.statistic, result.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    assert result.df == 23


def test_the_f_test_is_the_level_at_which_the_f_interval_touches_one() -> None:
    b, a = sample(0, 1, 9), sample(0, 2.4, 14)
    result = f_test(b, a)
    assert isinstance(result, Test)
    assert result.statistic == pytest.approx(2.4**2)
    assert result.p_value == pytest.approx(2 * scipy_stats.f.sf(2.4**2, 13, 8))
    interval = sd_ratio_interval(b, a, confidence=1 - result.p_value)
    assert isinstance(interval, Interval)
    assert interval.low == pytest.approx(1)
    assert f_test(b[:4], a) == Unavailable(Reason.TOO_FEW_EACH(5, "run", 4, 14))


@pytest.mark.parametrize(("sd", "word"), [(0.4, "steadier"), (2.5, "less steady"), (1.1, "undecided")])
def test_the_side_with_the_smaller_spread_is_steadier(sd: float, word: str) -> None:
    assert verdict(20, sd).word == word


def test_below_sixteen_runs_no_side_is_steadier_and_spreads_are_not_equal() -> None:
    for sd, ratio in ((0.05, None), (1.0, 5.0)):
        assert verdict(15, sd, spread_ratio=ratio) == SpreadVerdict(
            "undecided", "needs 16 runs in each, has 15 and 15", ratio
        )
        assert verdict(16, sd, spread_ratio=ratio) != verdict(15, sd, spread_ratio=ratio)


@pytest.mark.parametrize("sd", [1.0, 1.25, 0.8])
def test_no_verdict_says_that_spreads_are_equal_but_the_interval_within_a_given_ratio_is_named(sd: float) -> None:
    assert verdict(60, sd).word == "undecided"
    within = verdict(60, sd, spread_ratio=1.7)
    assert within.word == "undecided"
    assert within.is_within
    assert within.reason.endswith("; the 90% interval lies within 1/1.7 … 1.7 (normal scores only)")
    assert not verdict(60, sd, spread_ratio=1.2).is_within


def test_the_interval_within_the_ratio_is_the_ninety_percent_one() -> None:
    inner = sd_ratio_interval(sample(0, 1, 30), sample(0, 1, 30), confidence=0.9)
    assert isinstance(inner, Interval)
    assert verdict(30, 1.0, spread_ratio=inner.high * 1.001).is_within
    assert not verdict(30, 1.0, spread_ratio=inner.high * 0.999).is_within


def test_a_steadier_side_within_the_ratio_is_steadier() -> None:
    assert verdict(400, 0.8).word == "steadier"
    both = verdict(400, 0.8, spread_ratio=2)
    assert (both.word, both.is_within) == ("steadier", True)


def test_heavy_tails_leave_the_spread_undecided_and_say_so() -> None:
    assert verdict(40, 0.1, tails="the tails are heavy") == SpreadVerdict("undecided", "candidate: the tails are heavy")


def test_the_robust_test_has_to_agree() -> None:
    """An outlier on one side: the F interval excludes 1, the distances from the median hardly differ."""
    b = sample(0, 1, 20)
    a = [*sample(0, 1, 19), 9.0]
    sides = [replace(describe(values), tails="") for values in (b, a)]
    found = decide_spread(*sides, brown_forsythe=brown_forsythe(b, a), confidence=0.95)
    assert found.word == "undecided"
    assert found.reason == "the 95% interval of the SD ratio excludes 1, but the Brown-Forsythe test does not agree"


def test_one_side_without_spread_leaves_its_reason() -> None:
    sides = [describe(values) for values in ([1.0] * 20, sample(0, 1, 20))]
    found = decide_spread(*sides, brown_forsythe=Unavailable("none"), confidence=0.95)
    assert found == SpreadVerdict("undecided", "baseline: all 20 values equal")


@pytest.mark.parametrize("ratio", [1.0, 0.5, -2.0, float("inf"), float("nan")])
def test_a_ratio_that_is_not_above_one_is_refused(ratio: float) -> None:
    with pytest.raises(ValueError, match="above 1"):
        verdict(20, 1.0, spread_ratio=ratio)
