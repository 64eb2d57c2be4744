"""Published numbers, and numbers computed from them: the oracles of the statistics."""

import math

import numpy as np
import pytest
from samples import sample
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from deviate.model.estimates import Interval, Test, Unavailable
from deviate.stats.compare import compare
from deviate.stats.describe import describe
from deviate.stats.design.power import arrangement_loss, detectable_difference, detectable_effect, runs_needed
from deviate.stats.estimates.effect import (
    cohens_d,
    cohens_d_unweighted,
    hedges_correction,
    hedges_g,
    hedges_g_interval,
    sd_ratio,
    sd_ratio_interval,
)
from deviate.stats.estimates.one_sample import coefficient_of_variation, mean_interval, sd_interval
from deviate.stats.hypothesis import two_sample
from deviate.stats.hypothesis.two_sample import mann_whitney, welch_interval
from deviate.stats.multiple.pairs import holm

RESNET = sample(93.6, 1.7, 8)
WIDE = sample(96.2, 0.4, 8)
LONG = [1, 2, 3, 4, 5, 6, 7, 8.5]
SHORT = [2, 2.5, 3, 4, 9, 11]


def found(value: object) -> Interval:
    assert isinstance(value, Interval)
    return value


def outcome(value: Test | Unavailable) -> Test:
    assert isinstance(value, Test)
    return value


def ends(value: Interval | Unavailable) -> tuple[float, float]:
    interval = found(value)
    return interval.low, interval.high


def test_cohens_d_of_deviates_table_is_2_1_and_not_3() -> None:
    assert cohens_d_unweighted(RESNET, WIDE) == pytest.approx(2.1054, abs=5e-5)
    assert hedges_correction(14) == pytest.approx(0.945288, abs=5e-7)
    assert hedges_g(RESNET, WIDE) == pytest.approx(1.9902, abs=5e-5)


def test_noncentral_t_interval_of_deviates_effect() -> None:
    low, high = ends(hedges_g_interval(RESNET, WIDE))
    assert (low, high) == pytest.approx((0.789, 3.148), abs=5e-4)
    assert (low / hedges_correction(14), high / hedges_correction(14)) == pytest.approx((0.835, 3.330), abs=5e-4)


def test_complete_separation_has_the_exact_two_sided_p(rng: np.random.Generator) -> None:
    result = outcome(mann_whitney(range(10, 18), range(8)))
    assert result.statistic == 0
    assert result.p_value == pytest.approx(2 / math.comb(16, 8), rel=1e-12)
    assert result.p_value == pytest.approx(1.5540e-4, rel=1e-4)


def test_tests_of_deviates_table_from_its_means_and_spreads() -> None:
    student = outcome(two_sample.student(WIDE, RESNET))
    welch = outcome(two_sample.welch(WIDE, RESNET))
    assert student.statistic == pytest.approx(-4.2108, abs=5e-5)
    assert student.p_value == pytest.approx(8.720e-4, rel=1e-3)
    assert welch.p_value == pytest.approx(3.149e-3, rel=1e-3)
    assert welch.df == pytest.approx(7.7727, abs=5e-5)
    assert ends(welch_interval(WIDE, RESNET)) == pytest.approx((-4.0311, -1.1689), abs=5e-5)


def test_spread_ratio_of_deviates_table_and_its_f_interval() -> None:
    assert sd_ratio(WIDE, RESNET) == pytest.approx(4.25)
    assert ends(sd_ratio_interval(WIDE, RESNET)) == pytest.approx((1.902, 9.498), abs=5e-4)
    p_value = 1.110e-3
    assert found(sd_ratio_interval(WIDE, RESNET, confidence=1 - p_value)).low == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("difference", "printed"),
    [(4.0, 1.5), (3.9, 1.5), (5.1, 1.7), (2.0, 0.7), (0.4, 0.1), (0.9, 0.3), (1.1, 0.4), (1.1, 0.3)],
)
def test_every_spread_of_deviates_table_is_feasible_for_its_range(difference: float, printed: float) -> None:
    middle = [0.0, *[difference / 2] * 6, difference]
    halves = [0.0] * 4 + [difference] * 4
    least, most = describe(middle).sd, describe(halves).sd
    assert isinstance(least, float)
    assert isinstance(most, float)
    assert least == pytest.approx(difference / math.sqrt(14))
    assert most == pytest.approx(difference / 2 * math.sqrt(8 / 7))
    assert least - 0.05 <= printed <= most + 0.05


@pytest.mark.parametrize(("n", "expected"), [(2, 1.1284), (3, 1.6926), (5, 2.3259), (8, 2.8472), (10, 3.0775)])
def test_mean_range_of_normal_scores_follows_their_number(n: int, expected: float) -> None:
    draws = np.random.default_rng(n).normal(size=(4000, n))
    ranges = [describe(draw.tolist()).range for draw in draws[:400]]
    assert np.mean(np.ptp(draws, axis=1)) == pytest.approx(expected, abs=0.06)
    assert ranges == pytest.approx(np.ptp(draws[:400], axis=1))


SD_FACTORS = [
    (5, 0.90, 0.6493, 2.3724),
    (5, 0.95, 0.5991, 2.8736),
    (5, 0.99, 0.5188, 4.3960),
    (8, 0.90, 0.7054, 1.7972),
    (8, 0.95, 0.6612, 2.0353),
    (8, 0.99, 0.5875, 2.6601),
    (10, 0.90, 0.7293, 1.6452),
    (10, 0.95, 0.6878, 1.8256),
    (10, 0.99, 0.6177, 2.2776),
    (16, 0.90, 0.7747, 1.4373),
    (16, 0.95, 0.7387, 1.5477),
    (16, 0.99, 0.6762, 1.8056),
    (100, 0.95, 0.8780, 1.1617),
]


@pytest.mark.parametrize(("n", "confidence", "low", "high"), SD_FACTORS)
def test_factors_of_the_spread_interval(n: int, confidence: float, low: float, high: float) -> None:
    assert ends(sd_interval(sample(0, 1, n), confidence=confidence)) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("confidence", "low", "high"), [(0.9, 1.20, 3.06), (0.95, 1.12, 3.46)])
def test_spread_interval_of_deviates_first_row(confidence: float, low: float, high: float) -> None:
    assert ends(sd_interval(RESNET, confidence=confidence)) == pytest.approx((low, high), abs=5e-3)


@pytest.mark.parametrize(
    ("mean", "sd", "percent"),
    [
        (93.6, 1.7, 1.82),
        (87.8, 0.7, 0.80),
        (96.2, 0.4, 0.42),
        (91.4, 0.3, 0.33),
        (97.6, 1.5, 1.54),
        (93.0, 1.5, 1.61),
        (99.5, 0.1, 0.10),
        (96.6, 0.3, 0.31),
    ],
)
def test_coefficients_of_variation_of_deviates_table(mean: float, sd: float, percent: float) -> None:
    cv = coefficient_of_variation(sample(mean, sd, 8))
    assert isinstance(cv, float)
    assert 100 * cv == pytest.approx(percent, abs=5e-3)


def test_spread_and_interval_as_deviates_code_gives_them_in_the_right_order() -> None:
    assert describe(LONG).sd == pytest.approx(2.555631037532609, rel=1e-14)
    assert ends(sd_interval(LONG, confidence=0.9)) == pytest.approx((1.8027863542188454, 4.592854188933114), rel=1e-10)


def test_cohens_d_of_unequal_numbers_of_runs_depends_on_the_weights() -> None:
    assert cohens_d_unweighted(SHORT, LONG) == pytest.approx(-0.21264228508244123, rel=1e-12)
    assert cohens_d(SHORT, LONG) == pytest.approx(-0.21961965527775748, rel=1e-12)


@pytest.mark.parametrize(
    ("candidate", "baseline", "f", "p_value"),
    [(0.83, 0.31, 7.169, 0.0072), (0.83, 0.41, 4.098, 0.0473), (0.41, 0.31, None, 0.418)],
)
def test_spread_ratios_of_noise_sources(candidate: float, baseline: float, f: float | None, p_value: float) -> None:
    a, b = sample(62, candidate, 10), sample(61, baseline, 10)
    ratio = sd_ratio(b, a)
    assert isinstance(ratio, float)
    assert f is None or ratio**2 == pytest.approx(f, abs=5e-4)
    low, _ = ends(sd_ratio_interval(b, a, confidence=1 - p_value))
    assert low == pytest.approx(1, abs=2e-3)
    assert (ratio / ends(sd_ratio_interval(b, a))[0]) ** 2 == pytest.approx(4.0260, abs=5e-5)


def test_welch_of_the_contract() -> None:
    result = outcome(two_sample.welch([2, 3, 4, 7], [1, 2, 3, 4]))
    assert result.statistic == pytest.approx(-1.19208, abs=5e-6)
    assert result.df == pytest.approx(4.90045, abs=5e-6)
    assert result.p_value == pytest.approx(0.28774, abs=5e-6)
    assert ends(welch_interval([2, 3, 4, 7], [1, 2, 3, 4])) == pytest.approx((-4.75444, 1.75444), abs=5e-6)


def test_equivalence_within_a_margin_is_two_one_sided_tests() -> None:
    """The larger one-sided p of the contract, .14387, is where the inner interval touches the margin of 3."""
    inner = found(welch_interval([2, 3, 4, 7], [1, 2, 3, 4], confidence=1 - 2 * 0.14387))
    assert inner.low == pytest.approx(-3, abs=1e-4)
    other = found(welch_interval([2, 3, 4, 7], [1, 2, 3, 4], confidence=1 - 2 * 0.00825))
    assert other.high == pytest.approx(3, abs=5e-3)


def test_ties_are_permuted_and_counted(rng: np.random.Generator) -> None:
    result = outcome(mann_whitney([0.90, 0.90, 0.91, 0.90, 0.92], [0.91, 0.91, 0.92, 0.93, 0.93]))
    assert result.statistic == 21.5
    assert result.p_value == pytest.approx(0.07143, abs=5e-6)
    assert result.note == "exact permutation, 10 ties"


def test_holm_of_the_contract() -> None:
    assert holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx(
        multipletests([0.04, 0.01, 0.03, 0.02], method="holm")[1].tolist()
    )


@pytest.mark.parametrize(("n", "factor"), [(3, 0.798), (4, 0.869), (5, 0.903), (8, 0.945), (10, 0.958), (16, 0.975)])
def test_hedges_correction_by_number_of_runs(n: int, factor: float) -> None:
    assert hedges_correction(2 * n - 2) == pytest.approx(factor, abs=6e-4)


@pytest.mark.parametrize(("n", "effect"), [(5, 2.02), (8, 1.51), (10, 1.32), (16, 1.02), (20, 0.91), (30, 0.74)])
def test_detectable_effect_by_number_of_runs(n: int, effect: float) -> None:
    """Of the t-test; that the permutation test sees it too costs up to 4 % with few runs, simulated."""
    assert detectable_effect(n, n) / arrangement_loss(n, n, 0.05) == pytest.approx(effect, abs=6e-3)
    assert detectable_difference(sample(5, 0.1, n), sample(9, 0.1, n)) == pytest.approx(0.1 * detectable_effect(n, n))


@pytest.mark.parametrize(("effect", "n"), [(0.5, 64), (0.8, 26), (1, 17), (1.5, 9), (2, 6), (3, 4)])
def test_runs_needed_for_an_effect(effect: float, n: int) -> None:
    assert runs_needed(effect, sample(0, 1, 10), sample(3, 1, 10)) == n


@pytest.mark.parametrize(
    ("n", "half_width"), [(2, 8.98), (3, 2.48), (5, 1.24), (8, 0.84), (10, 0.72), (16, 0.53), (20, 0.47), (30, 0.37)]
)
def test_half_width_of_the_t_interval(n: int, half_width: float) -> None:
    low, high = ends(mean_interval(sample(0, 1, n)))
    assert high == pytest.approx(half_width, abs=6e-3)
    assert low == pytest.approx(-high)


@pytest.mark.parametrize(
    ("n", "low", "high"), [(5, 0.32, 3.10), (8, 0.45, 2.24), (10, 0.50, 2.01), (16, 0.59, 1.69), (30, 0.69, 1.45)]
)
def test_factors_of_the_spread_ratio_interval(n: int, low: float, high: float) -> None:
    assert ends(sd_ratio_interval(sample(0, 1, n), sample(5, 1, n))) == pytest.approx((low, high), abs=6e-3)


@pytest.mark.parametrize(("n", "p_value"), [(4, 0.0286), (5, 0.0079), (6, 0.0022), (8, 0.00016)])
def test_smallest_possible_p_of_the_rank_test(n: int, p_value: float, rng: np.random.Generator) -> None:
    result = outcome(mann_whitney(range(n), range(n, 2 * n)))
    assert result.p_value == pytest.approx(p_value, abs=6e-5)
    assert result.p_value == pytest.approx(
        float(scipy_stats.mannwhitneyu(range(n), range(n, 2 * n), method="exact").pvalue)
    )


def test_the_numbers_of_a_printed_verdict_follow_from_its_means_and_spreads(rng: np.random.Generator) -> None:
    """10 runs of 93.41 ± 0.22 against 9 of 93.74 ± 0.21, as in the terminal form."""
    result = compare(sample(93.41, 0.22, 10), sample(93.74, 0.21, 9), rng=rng, direction="max")
    assert ends(result.baseline.mean_interval) == pytest.approx((93.25, 93.57), abs=6e-3)
    assert ends(result.baseline.sd_interval) == pytest.approx((0.15, 0.40), abs=6e-3)
    assert ends(result.candidate.sd_interval) == pytest.approx((0.14, 0.40), abs=6e-3)
    assert ends(result.difference_interval) == pytest.approx((0.12, 0.54), abs=6e-3)
    assert result.hedges_g == pytest.approx(1.46, abs=6e-3)
    assert ends(result.hedges_g_interval) == pytest.approx((0.46, 2.44), abs=6e-3)
    welch = outcome(result.welch)
    assert welch.df == pytest.approx(16.9, abs=0.06)
    assert welch.statistic == pytest.approx(3.34, abs=6e-3)
    assert welch.p_value == pytest.approx(0.004, abs=6e-4)
    assert result.sd_ratio == pytest.approx(0.95, abs=6e-3)
    assert ends(result.sd_ratio_interval) == pytest.approx((0.47, 1.99), abs=6e-3)
    assert result.detectable == pytest.approx(0.29, abs=6e-3)
    assert result.verdict.word == "better"
