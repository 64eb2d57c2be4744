"""Published tables: the oracles from means, SDs and numbers of runs; samples give what their summaries give."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from samples import sample
from scipy import stats as scipy_stats

from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.estimates.effect import (
    cohens_d,
    cohens_d_unweighted,
    hedges_correction,
    hedges_g,
    hedges_g_interval,
    sd_ratio,
    sd_ratio_interval,
)
from deviate.stats.estimates.one_sample import mean_interval, sd_interval
from deviate.stats.estimates.sample import SampleSummary
from deviate.stats.estimates.spread import f_test
from deviate.stats.hypothesis.two_sample import student, welch, welch_interval

RESNET = SampleSummary(8, 93.6, 1.7)
WIDE = SampleSummary(8, 96.2, 0.4)
Made = float | Interval | Test | Unavailable


def outcome(value: object) -> Test:
    assert isinstance(value, Test)
    return value


def ends(value: Interval | Unavailable) -> tuple[float, float]:
    assert isinstance(value, Interval)
    return value.low, value.high


def test_tests_of_deviates_table() -> None:
    of_student, of_welch = outcome(student(WIDE, RESNET)), outcome(welch(WIDE, RESNET))
    assert of_student.statistic == pytest.approx(-4.2108, abs=5e-5)
    assert of_student.p_value == pytest.approx(8.720e-4, rel=1e-3)
    assert (of_welch.p_value, of_welch.df) == pytest.approx((3.149e-3, 7.7727), rel=1e-3)
    assert ends(welch_interval(WIDE, RESNET)) == pytest.approx((-4.0311, -1.1689), abs=5e-5)


def test_spread_of_deviates_table() -> None:
    assert sd_ratio(WIDE, RESNET) == pytest.approx(4.25)
    assert ends(sd_ratio_interval(WIDE, RESNET)) == pytest.approx((1.902, 9.498), abs=5e-4)
    assert outcome(f_test(WIDE, RESNET)).p_value == pytest.approx(1.110e-3, rel=1e-3)


def test_effects_of_deviates_table_and_their_interval() -> None:
    assert cohens_d_unweighted(RESNET, WIDE) == pytest.approx(2.1054, abs=5e-5)
    assert cohens_d(RESNET, WIDE) == pytest.approx(2.1054, abs=5e-5)
    assert hedges_correction(14) == pytest.approx(0.945288, abs=5e-7)
    assert hedges_g(RESNET, WIDE) == pytest.approx(1.9902, abs=5e-5)
    assert ends(hedges_g_interval(RESNET, WIDE)) == pytest.approx((0.789, 3.148), abs=5e-4)


def test_rounding_of_the_table_leaves_cohens_d_between_its_bounds() -> None:
    found = [
        cohens_d_unweighted(SampleSummary(8, 93.6 + i, 1.7 + j), SampleSummary(8, 96.2 + k, 0.4 + m))
        for i in (-0.05, 0.05)
        for j in (-0.05, 0.05)
        for k in (-0.05, 0.05)
        for m in (-0.05, 0.05)
    ]
    numbers = [it for it in found if isinstance(it, float)]
    assert (min(numbers), max(numbers)) == pytest.approx((1.957, 2.264), abs=1e-3)


@pytest.mark.parametrize(
    ("candidate", "baseline", "f", "p_value"),
    [(0.83, 0.31, 7.169, 0.0072), (0.83, 0.41, 4.098, 0.0473), (0.41, 0.31, None, 0.418)],
)
def test_spreads_of_noise_sources(candidate: float, baseline: float, f: float | None, p_value: float) -> None:
    found = outcome(f_test(SampleSummary(10, 61, baseline), SampleSummary(10, 62, candidate)))
    assert f is None or found.statistic == pytest.approx(f, abs=5e-4)
    assert found.p_value == pytest.approx(p_value, rel=2e-3)


@pytest.mark.parametrize(
    ("n", "confidence", "low", "high"),
    [(5, 0.95, 0.5991, 2.8736), (8, 0.9, 0.7054, 1.7972), (100, 0.95, 0.8780, 1.1617)],
)
def test_factors_of_the_spread_interval(n: int, confidence: float, low: float, high: float) -> None:
    found = ends(sd_interval(SampleSummary(n, 9.0, 2.0), confidence=confidence))
    assert found == pytest.approx((2 * low, 2 * high), abs=1e-4)


def test_intervals_of_one_side_are_those_of_its_runs() -> None:
    runs = sample(93.6, 1.7, 8)
    assert ends(sd_interval(RESNET)) == pytest.approx((1.12, 3.46), abs=5e-3)
    assert ends(sd_interval(RESNET)) == pytest.approx(ends(sd_interval(runs)))
    assert ends(mean_interval(RESNET)) == pytest.approx(ends(mean_interval(runs)))
    low, high = scipy_stats.t.interval(0.95, 7, 93.6, 1.7 / math.sqrt(8))
    assert ends(mean_interval(RESNET)) == pytest.approx((low, high))
    assert sd_interval(HARD["one run"]) == Unavailable(Reason.TOO_FEW(2, "run", 1))
    assert mean_interval(HARD["no spread"]) == Unavailable(Reason.NO_SPREAD)


@pytest.mark.parametrize(
    ("before", "after"), [(RESNET, WIDE), (SampleSummary(5, 1.0, 3.0), SampleSummary(15, 2.0, 1.0))]
)
def test_tests_from_summaries_are_those_of_scipy(before: SampleSummary, after: SampleSummary) -> None:
    for ours, equal in ((welch, False), (student, True)):
        expected = scipy_stats.ttest_ind_from_stats(
            after.mean, after.sd, after.n, before.mean, before.sd, before.n, equal_var=equal
        )
        found = outcome(ours(before, after))
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


FUNCTIONS: dict[str, Callable[..., Made]] = {
    function.__name__: function
    for function in (
        *(welch, welch_interval, student, cohens_d, cohens_d_unweighted, hedges_g, hedges_g_interval),
        *(sd_ratio, sd_ratio_interval, f_test),
    )
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sample_gives_what_its_summary_gives(name: str) -> None:
    draws = np.random.default_rng(2)
    b, a = draws.normal(90, 2, 9), draws.normal(92, 1, 7)
    sides = [SampleSummary(len(it), math.fsum(it) / len(it), float(np.std(it, ddof=1))) for it in (b, a)]
    ours, theirs = FUNCTIONS[name](*sides), FUNCTIONS[name](b.tolist(), a.tolist())
    if isinstance(ours, float):
        assert ours == pytest.approx(theirs)
        return
    assert type(ours) is type(theirs)
    if isinstance(ours, Test) and isinstance(theirs, Test):
        assert (ours.statistic, ours.p_value, ours.df) == pytest.approx((theirs.statistic, theirs.p_value, theirs.df))
    if isinstance(ours, Interval) and isinstance(theirs, Interval):
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
        assert (ours.method, ours.confidence) == (theirs.method, theirs.confidence)


HARD = {
    "no run": SampleSummary(0, math.nan, math.nan),
    "one run": SampleSummary(1, 0.5, math.nan),
    "no mean": SampleSummary(8, math.nan, 1.0),
    "infinite": SampleSummary(8, math.inf, 1.0),
    "beyond": SampleSummary(8, 1e200, 1.0),
    "negative SD": SampleSummary(8, 1.0, -1.0),
    "no spread": SampleSummary(8, 1.0, 0.0),
    "no spread elsewhere": SampleSummary(8, 2.0, 0.0),
    "tiny spread": SampleSummary(8, 1.0, 1e-300),
    "tiny": SampleSummary(8, 1e-149, 1e-149),
    "huge": SampleSummary(8, 1e149, 1e149),
    "plain": SampleSummary(8, 1.0, 0.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_table_has_a_named_answer(name: str) -> None:
    for before in HARD.values():
        for after in HARD.values():
            found = FUNCTIONS[name](before, after)
            if isinstance(found, Unavailable):
                assert found.reason
            elif isinstance(found, Test):
                assert 0 < found.p_value <= 1
                assert math.isfinite(found.statistic)
            elif isinstance(found, Interval):
                assert -math.inf < found.low < found.high < math.inf
            else:
                assert math.isfinite(found)


def test_tables_without_spread_are_told_apart() -> None:
    assert welch(HARD["no spread"], HARD["no spread"]) == Unavailable(Reason.IDENTICAL)
    assert welch(HARD["no spread"], HARD["no spread elsewhere"]) == Unavailable(Reason.CONSTANT_DIFFERENCE)
    assert sd_ratio(HARD["no spread"], HARD["plain"]) == Unavailable(Reason.OF("baseline", Reason.NO_SPREAD))
    assert welch(HARD["one run"], HARD["plain"]) == Unavailable(Reason.TOO_FEW_EACH(2, "run", 1, 8))
