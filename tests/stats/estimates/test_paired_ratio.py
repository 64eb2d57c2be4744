"""The ratio of two SDs of the same runs: how often its interval holds the true one, and that pairing is used."""

import numpy as np
import pytest

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.estimates.bootstrap import Resamples, paired_sd_ratio_bootstrap, sd_ratio_bootstrap


def pairs(rng: np.random.Generator, n: int, ratio: float, correlation: float) -> tuple[list[float], list[float]]:
    whole, own = rng.normal(size=(2, n))
    part = ratio * (correlation * whole + np.sqrt(1 - correlation**2) * own)
    return whole.tolist(), part.tolist()


def test_intervals_of_thirty_runs_hold_the_true_ratio_in_about_nine_of_ten_cases() -> None:
    rng = np.random.default_rng(0)
    n_held = 0
    for seed in range(200):
        whole, part = pairs(rng, 30, 2.0, 0.6)
        found = paired_sd_ratio_bootstrap(whole, part, rng=Resamples(np.random.default_rng(seed), 999))
        assert isinstance(found, Interval)
        n_held += found.low <= 2.0 <= found.high
    assert 172 <= n_held <= 197


def test_scores_that_move_together_have_a_narrower_ratio_than_independent_ones() -> None:
    whole, part = pairs(np.random.default_rng(1), 20, 1.0, 0.95)
    paired = paired_sd_ratio_bootstrap(whole, part, rng=np.random.default_rng(0))
    apart = sd_ratio_bootstrap(whole, part, rng=np.random.default_rng(0))
    assert isinstance(paired, Interval)
    assert isinstance(apart, Interval)
    assert np.log(paired.high / paired.low) < 0.75 * np.log(apart.high / apart.low)


def test_the_inverse_ratio_has_the_inverse_interval() -> None:
    whole, part = pairs(np.random.default_rng(2), 15, 3.0, 0.5)
    one = paired_sd_ratio_bootstrap(whole, part, rng=np.random.default_rng(0))
    # Runs are drawn in the order of the first sample: exchanged sides draw others, so ends agree by and large.
    other = paired_sd_ratio_bootstrap(part, whole, rng=np.random.default_rng(0))
    assert isinstance(one, Interval)
    assert isinstance(other, Interval)
    assert (1 / other.high, 1 / other.low) == pytest.approx((one.low, one.high), rel=0.05)


def test_runs_that_are_no_pairs_have_no_interval() -> None:
    found = paired_sd_ratio_bootstrap([1.0] * 10, [1.0] * 11, rng=np.random.default_rng(0))
    assert found == Unavailable(Reason.NO_PAIRS(10, 11))
