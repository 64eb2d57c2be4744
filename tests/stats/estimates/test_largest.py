"""How large the largest SD of many classes is."""

import numpy as np
import pytest

from deviate.stats.estimates.largest import mean_largest_sd


@pytest.mark.parametrize(("n_parts", "n"), [(1, 5), (10, 5), (100, 10), (3, 2)])
def test_the_largest_of_equal_sds_is_as_large_as_simulated(n_parts: int, n: int) -> None:
    drawn = np.random.default_rng(0).normal(size=(2_000_000 // (n_parts * n), n_parts, n))
    simulated = drawn.std(axis=2, ddof=1).max(axis=1)
    error = simulated.std() / np.sqrt(len(simulated))
    assert mean_largest_sd([1.0] * n_parts, n) == pytest.approx(simulated.mean(), abs=4 * error)


@pytest.mark.parametrize(
    ("n_parts", "n", "expected"),
    [(2, 3, 1.1457967822477659), (3, 2, 1.3263867552786095), (8, 10, 1.3163048948133821), (10, 3, 1.6757239275625611)],
)
def test_the_largest_of_equal_sds_is_exact(n_parts: int, n: int, expected: float) -> None:
    """Expected: integral of 1 - P(df / 2, df x^2 / 2)^n_parts by mpmath with 20 digits."""
    assert mean_largest_sd([1.0] * n_parts, n) == pytest.approx(expected, rel=1e-10)
