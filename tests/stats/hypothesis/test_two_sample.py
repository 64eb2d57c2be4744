import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats as scipy_stats

from deviate.model.estimates import Test, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.hypothesis import permutation
from deviate.stats.hypothesis.both import permutation_test
from deviate.stats.hypothesis.two_sample import kolmogorov_smirnov, mann_whitney


def found(value: Test | Unavailable) -> Test:
    assert isinstance(value, Test)
    return value


def fresh() -> np.random.Generator:
    return np.random.default_rng(0)


def test_every_row_of_a_sample_of_arrangements_holds_the_candidates_runs_and_no_run_is_preferred() -> None:
    rows = permutation._some_arrangements(7, 13, 9999)
    assert set(rows.sum(axis=1)) == {7}
    assert rows.mean(axis=0) == pytest.approx([7 / 20] * 20, abs=0.025)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n_b", "n_a"), [(6, 5), (8, 6), (10, 25), (60, 40)])
def test_kolmogorov_smirnov_is_scipys_exact_one_without_ties(n_b: int, n_a: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    b, a = draws.normal(0, 1, n_b), draws.normal(0.5, 2, n_a)
    expected = scipy_stats.ks_2samp(a, b, method="exact")
    result = found(kolmogorov_smirnov(b.tolist(), a.tolist()))
    assert (result.statistic, result.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    assert result.note == "exact"


def distance(a: Sequence[int], b: Sequence[int]) -> float:
    at = sorted({*a, *b})
    return max(abs(np.mean([x <= t for x in a]) - np.mean([x <= t for x in b])) for t in at)


@pytest.mark.parametrize("seed", range(4))
def test_with_ties_kolmogorov_smirnov_is_every_exchange_of_runs(seed: int) -> None:
    draws = np.random.default_rng(seed)
    b, a = draws.integers(0, 4, 5).tolist(), draws.integers(1, 5, 6).tolist()
    pooled, observed = [*a, *b], distance(a, b)
    extreme = 0
    for chosen in itertools.combinations(range(11), 6):
        rest = [pooled[i] for i in range(11) if i not in chosen]
        extreme += distance([pooled[i] for i in chosen], rest) >= observed - 1e-9
    result = found(kolmogorov_smirnov([float(x) for x in b], [float(x) for x in a]))
    assert result.statistic == pytest.approx(observed)
    assert result.p_value == pytest.approx(extreme / math.comb(11, 6))
    assert result.note.startswith("exact permutation, ")
    assert result.note.endswith(" ties")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("n_b", "n_a"), [(6, 5), (7, 7), (8, 8), (9, 4)])
def test_with_ties_the_p_of_ranks_is_that_of_all_arrangements(n_b: int, n_a: int, seed: int) -> None:
    draws = np.random.default_rng(seed)
    b, a = draws.integers(0, 6, n_b).astype(float), draws.integers(1, 8, n_a).astype(float)
    ranks = scipy_stats.rankdata([*a, *b])
    expected = scipy_stats.permutation_test(
        (ranks[:n_a], ranks[n_a:]), lambda one, _, axis: one.sum(axis=axis), n_resamples=10**6, vectorized=True
    )
    assert found(mann_whitney(b.tolist(), a.tolist())).p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_distributions_that_share_no_score_have_one_arrangement_as_far_on_each_side() -> None:
    result = found(kolmogorov_smirnov([float(i) for i in range(8)], [10.0 + i for i in range(8)]))
    assert (result.statistic, result.p_value) == (1, pytest.approx(2 / math.comb(16, 8)))


def test_tests_of_means_ask_for_fewer_runs_than_tests_of_distributions() -> None:
    assert isinstance(permutation_test([1, 2, 3], [2, 3, 4, 5]), Unavailable)
    assert isinstance(permutation_test([1, 2, 3, 4], [2, 3, 4, 5]), Test)
    assert kolmogorov_smirnov([1, 2, 3, 4], [2, 3, 4, 5, 6]) == Unavailable(Reason.TOO_FEW_EACH(5, "run", 4, 5))


def test_a_thousand_runs_have_a_rank_test_and_their_p_is_a_number_above_zero() -> None:
    draws = np.random.default_rng(0)
    b, a = draws.normal(0, 1, 1000).tolist(), draws.normal(0.1, 1, 1000).tolist()
    tested = found(mann_whitney(b, a))
    theirs = scipy_stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True)
    assert tested.p_value == pytest.approx(float(theirs.pvalue))
    assert tested.note == "normal approximation, continuity corrected"
    apart = found(mann_whitney(b, [value + 100 for value in a]))
    assert 0 < apart.p_value < 1e-300


@pytest.mark.parametrize("seed", range(3))
def test_where_the_exact_distribution_of_ranks_ends_the_normal_one_is_near(seed: int) -> None:
    draws = np.random.default_rng(seed)
    b, a = draws.normal(0, 1, 151).tolist(), draws.normal(0.2, 1, 151).tolist()
    exact = found(mann_whitney(b[1:], a[1:]))
    assert exact.note == "exact"
    theirs = scipy_stats.mannwhitneyu(a[1:], b[1:], method="asymptotic").pvalue
    assert exact.p_value == pytest.approx(float(theirs), rel=0.1)
    assert found(mann_whitney(b, a)).note.startswith("normal approximation")


def test_at_complete_separation_ties_are_said_to_be_within_a_side() -> None:
    result = found(mann_whitney([1.0, 1.0, 1.0, 2.0], [5.0, 5.0, 5.0, 6.0]))
    assert result.note == "exact, complete separation, 0 of 16 pairs against, 6 ties within a side"
