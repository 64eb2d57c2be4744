import math

import numpy as np
import pytest
from samples import sample
from scipy import stats as scipy_stats
from statsmodels.stats import weightstats

from deviate.model.analysis import Direction
from deviate.model.comparisons import Equivalence
from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.stats.hypothesis.both import BothTests, ask_both, equivalence
from deviate.stats.hypothesis.two_tests import ask


def found(value: Equivalence | Unavailable) -> Equivalence:
    assert isinstance(value, Equivalence)
    return value


def welch_t(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
    variances = (it.var(axis, ddof=1) / it.shape[axis] for it in (x, y))
    return (x.mean(axis) - y.mean(axis)) / np.sqrt(sum(variances))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("margin", [0.2, 1.0, 4.0])
def test_two_one_sided_tests_are_those_of_statsmodels_and_of_all_arrangements(margin: float, seed: int) -> None:
    draws = np.random.default_rng(seed)
    b, a = draws.normal(0, 1, 6), draws.normal(0.3, 3, 9)
    p_value, above, below = weightstats.ttost_ind(a, b, -margin, margin, usevar="unequal")
    result = found(equivalence(b.tolist(), a.tolist(), margin=margin))
    for null, side, expected, shown in (
        (-margin, "above", above, result.above),
        (margin, "below", below, result.below),
    ):
        both = ask_both(b.tolist(), a.tolist(), null=null, side=side)
        assert isinstance(both, BothTests)
        welch = both.t_test
        assert (welch.statistic, welch.p_value, welch.df) == pytest.approx(expected)
        oracle = scipy_stats.permutation_test(
            (a - null, b), welch_t, alternative="greater" if side == "above" else "less", n_resamples=10**6
        )
        tail = max(float(oracle.pvalue), welch.p_value)
        assert shown.p_value == pytest.approx(tail if tail < 0.5 else shown.p_value, abs=1e-9)
    assert result.p_value == max(result.above.p_value, result.below.p_value) >= p_value - 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_paired_tests_are_those_of_statsmodels_and_of_all_signs(seed: int) -> None:
    draws = np.random.default_rng(seed)
    b = draws.normal(0, 1, 9)
    a = b + draws.normal(0.1, 0.5, 9)
    p_value, above, below = weightstats.ttost_paired(a, b, -0.4, 0.4)
    result = found(equivalence(b.tolist(), a.tolist(), margin=0.4, is_paired=True))
    signs = [
        float(
            scipy_stats.permutation_test(
                (a - b - null,), np.mean, permutation_type="samples", alternative=alternative, n_resamples=10**6
            ).pvalue
        )
        for null, alternative in ((-0.4, "greater"), (0.4, "less"))
    ]
    expected = max(above[1], signs[0]), max(below[1], signs[1])
    assert (result.above.p_value, result.below.p_value) == pytest.approx(expected)
    assert result.p_value == pytest.approx(max(expected))
    assert max(expected) >= p_value


def test_the_equivalence_of_the_contract_has_too_few_runs_to_be_shown() -> None:
    """[1,2,3,4] v [2,3,4,7], margin 3: one-sided p .14387 and .00825, as statsmodels gives for any n."""
    b, a = [2.0, 3, 4, 7], [1.0, 2, 3, 4]
    p_value, above, below = weightstats.ttost_ind(a, b, -3, 3, usevar="unequal")
    assert (p_value, above[1], below[1]) == pytest.approx((0.14387, 0.14387, 0.00825), abs=5e-6)
    assert equivalence(b, a, margin=3) == Unavailable(Reason.TOO_FEW_EACH(5, "run", 4, 4))


@pytest.mark.parametrize("margin", [0.3, 0.5, 0.8, 1.2])
def test_p_is_below_alpha_where_the_ninety_percent_interval_lies_within_the_margin(margin: float) -> None:
    result = found(equivalence(sample(0, 0.5, 10), sample(0.2, 0.5, 10), margin=margin))
    assert result.interval.confidence == pytest.approx(0.9)
    assert (result.p_value < 0.05) == (-margin < result.interval.low and result.interval.high < margin)
    assert result.is_within == (result.p_value < 0.05)


@pytest.mark.parametrize(
    ("difference", "direction", "expected"),
    [(-0.1, "max", True), (-0.9, "max", False), (0.9, "min", False), (0.1, "min", True), (5.0, "max", True)],
)
def test_not_worse_looks_at_the_bound_on_the_bad_side(
    difference: float, direction: Direction, expected: object
) -> None:
    b, a = sample(0, 0.5, 10), sample(difference, 0.5, 10)
    assert found(equivalence(b, a, margin=0.6, direction=direction)).is_not_worse is expected
    assert found(equivalence(b, a, margin=0.6)).is_not_worse is None


@pytest.mark.parametrize(("n", "power"), [(10, 0.40), (16, 0.73), (30, 0.97)])
def test_power_with_a_margin_of_one_sd_is_that_of_the_contract(n: int, power: float) -> None:
    draws = np.random.default_rng(n).normal(0, 1, (250, 2, n))
    above, below = (
        ask(draws[:, 0], draws[:, 1], null, alpha=0.05, side=side, is_decision_only=True).p_upper < 0.05
        for null, side in ((-1.0, "above"), (1.0, "below"))
    )
    hits = above & below
    assert np.mean(hits) == pytest.approx(power, abs=4 * math.sqrt(power * (1 - power) / 250))


@pytest.mark.parametrize("margin", [0.0, -1.0, math.inf, math.nan])
def test_a_margin_that_is_no_positive_number_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="not a positive number"):
        equivalence(sample(0, 1, 8), sample(0, 1, 8), margin=margin)
