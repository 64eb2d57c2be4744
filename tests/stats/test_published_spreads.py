"""What follows from the spreads, ranges and shares that published tables print."""

import itertools
import math

import pytest

from deviate.model.estimates import Interval, Test
from deviate.stats.estimates.effect import cohens_d_unweighted
from deviate.stats.estimates.largest import mean_largest_range
from deviate.stats.estimates.sample import SampleSummary
from deviate.stats.estimates.spread import f_test
from deviate.stats.hypothesis.failures import rate_interval

CIFAR = [
    [(62.28, 0.83), (61.44, 0.41), (61.61, 0.31)],
    [(93.33, 0.14), (93.32, 0.13), (93.12, 0.11)],
    [(73.37, 0.23), (73.42, 0.26), (73.36, 0.17)],
    [(62.24, 0.64), (62.13, 0.85), (62.36, 0.16)],
    [(93.34, 0.11), (93.44, 0.19), (93.13, 0.09)],
    [(73.30, 0.16), (73.52, 0.15), (73.34, 0.24)],
    [(62.03, 0.91), (62.35, 0.61), (61.69, 0.31)],
    [(93.32, 0.17), (93.44, 0.05), (93.41, 0.13)],
    [(73.42, 0.25), (73.35, 0.14), (73.41, 0.28)],
]
"""Table 2 of Zhuang et al., means and SDs of 10 runs: P100, RTX5000, V100, each with three tasks."""


def test_the_printed_effect_of_three_is_that_of_the_root_alone_halved() -> None:
    """DEVIATE prints d = 3: nearest is the root of the sum of variances, halved, as divisor."""
    found = []
    for i, j, k, m in itertools.product((-0.05, 0, 0.05), repeat=4):
        d = cohens_d_unweighted(SampleSummary(8, 93.6 + i, 1.7 + j), SampleSummary(8, 96.2 + k, 0.4 + m))
        assert isinstance(d, float)
        found.append(math.sqrt(2) * d)
    assert found[40] == pytest.approx(2.9775, abs=5e-5), "nothing rounded"
    assert (min(found), max(found)) == pytest.approx((2.767, 3.201), abs=1e-3)


def test_the_printed_range_is_near_to_the_one_that_its_spread_predicts() -> None:
    assert mean_largest_range([1.7], 8) == pytest.approx(4.84, abs=5e-3)


def test_eight_of_27_pairs_of_variants_differ_in_spread() -> None:
    p_values = []
    for row in CIFAR:
        for one, other in itertools.combinations(row, 2):
            found = f_test(SampleSummary(10, *one), SampleSummary(10, *other))
            assert isinstance(found, Test)
            p_values.append(found.p_value)
    assert (len(p_values), sum(p < 0.05 for p in p_values)) == (27, 8)


def test_a_share_of_670_papers_is_known_to_three_points() -> None:
    found = rate_interval(round(0.195 * 670), 670)
    assert isinstance(found, Interval)
    assert 50 * (found.high - found.low) == pytest.approx(3, abs=0.15)
