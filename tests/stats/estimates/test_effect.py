import numpy as np
import pytest
from samples import sample

from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.estimates.effect import cliffs_delta, cliffs_delta_interval, glass_delta, superiority_interval


def found(value: Interval | Unavailable) -> Interval:
    assert isinstance(value, Interval)
    return value


def test_glass_delta_is_the_difference_in_spreads_of_the_baseline_alone() -> None:
    assert glass_delta(sample(10, 2, 8), sample(13, 9, 6)) == pytest.approx(1.5)
    assert glass_delta(sample(10, 2, 4), sample(13, 9, 6)) == Unavailable(Reason.TOO_FEW_EACH(5, "run", 4, 6))
    assert glass_delta([5.0] * 6, sample(13, 9, 6)) == Unavailable(Reason.OF("baseline", Reason.EQUAL(6)))


def test_cliffs_delta_is_the_share_of_pairs_above_less_that_below() -> None:
    b, a = [1.0, 2, 3, 4, 5, 5], [2.0, 4, 5, 6, 7]
    signs = [np.sign(after - before) for after in a for before in b]
    assert cliffs_delta(b, a) == pytest.approx(np.mean(signs))
    assert cliffs_delta(a, b) == pytest.approx(-np.mean(signs))


def test_the_interval_of_cliffs_delta_is_that_of_the_superiority_stretched() -> None:
    b, a = sample(0, 1, 9), sample(0.7, 1.5, 12)
    delta, p = found(cliffs_delta_interval(b, a)), found(superiority_interval(b, a))
    assert (delta.low, delta.high) == pytest.approx((2 * p.low - 1, 2 * p.high - 1))
    separated = found(cliffs_delta_interval(sample(0, 1, 8), sample(99, 1, 8)))
    assert (separated.high, separated.method) == (1, "one-sided bound at complete separation")
