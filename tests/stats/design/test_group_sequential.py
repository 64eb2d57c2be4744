import itertools
import math

import numpy as np
import pytest
from classical import classical_bounds
from scipy import stats as scipy_stats

from deviate.errors import InputError
from deviate.model.records import Spending
from deviate.stats.design.group_sequential import (
    SpendingPlan,
    at_look,
    crossing,
    parse_looks,
    repeated_p,
    spend_error,
    spending_bounds,
)

Array = np.ndarray[tuple[int, int], np.dtype[np.float64]]

POCOCK = {2: 2.178, 3: 2.289, 4: 2.361, 5: 2.413, 10: 2.555}
OBRIEN_FLEMING = {2: 1.977, 3: 2.004, 4: 2.024, 5: 2.040, 10: 2.087}
"""Constants for 5 %, two-sided. Source: Jennison & Turnbull (2000), tables 2.1 and 2.3."""
SPENDING: dict[Spending, tuple[float, ...]] = {
    "obrien-fleming": (4.877, 3.357, 2.680, 2.290, 2.031),
    "pocock": (2.438, 2.427, 2.410, 2.397, 2.386),
}
"""Five equally spaced looks, 2.5 % on each side. Source: `gsDesign` with sfLDOF and sfLDPocock; DeMets & Lan (1994)."""
BOTH: tuple[Spending, ...] = ("obrien-fleming", "pocock")


def nominal(bounds: tuple[float, ...]) -> list[float]:
    return [2 * float(scipy_stats.norm.sf(bound)) for bound in bounds]


def test_classical_constants_equal_the_published_tables() -> None:
    for n_looks, constant in POCOCK.items():
        assert classical_bounds(n_looks, 0.05, "pocock") == pytest.approx([constant] * n_looks, abs=6e-4)
    for n_looks, constant in OBRIEN_FLEMING.items():
        expected = [constant * math.sqrt(n_looks / k) for k in range(1, n_looks + 1)]
        assert classical_bounds(n_looks, 0.05, "obrien-fleming") == pytest.approx(expected, abs=2e-3)


def test_their_nominal_p_values_are_those_of_the_contract() -> None:
    assert nominal(classical_bounds(3, 0.05, "pocock")) == pytest.approx([0.0221] * 3, abs=5e-5)
    assert nominal(classical_bounds(4, 0.05, "pocock")) == pytest.approx([0.0182] * 4, abs=5e-5)
    assert nominal(classical_bounds(3, 0.05, "obrien-fleming")) == pytest.approx([0.0005, 0.0141, 0.0451], abs=5e-5)


@pytest.mark.parametrize("spending", BOTH)
def test_spending_bounds_equal_the_published_ones(spending: Spending) -> None:
    bounds = spending_bounds((0.2, 0.4, 0.6, 0.8, 1.0), 0.05, spending)
    assert bounds == pytest.approx(SPENDING[spending], abs=6e-4)


@pytest.mark.parametrize("spending", BOTH)
def test_all_looks_together_err_as_often_as_the_multivariate_normal_says(spending: Spending) -> None:
    fractions = (0.25, 0.5, 1.0)
    bounds = np.array(spending_bounds(fractions, 0.05, spending))
    covariance = [[math.sqrt(min(s, t) / max(s, t)) for t in fractions] for s in fractions]
    for k in (1, 2, 3):
        part = np.array(covariance)[:k, :k]
        inside = scipy_stats.multivariate_normal.cdf(
            bounds[:k], cov=part, maxpts=200_000, abseps=1e-8, releps=1e-8, lower_limit=-bounds[:k]
        )
        assert 1 - inside == pytest.approx(spend_error(fractions[k - 1], 0.05, spending), abs=1e-6)


@pytest.mark.parametrize("spending", BOTH)
def test_the_error_is_spent_entirely_however_many_looks_there_are(spending: Spending) -> None:
    for numbers in ((20,), (5, 20), tuple(range(5, 55))):
        fractions = SpendingPlan(numbers).fractions
        chances = crossing(fractions, spending_bounds(fractions, 0.05, spending))
        assert math.fsum(chances) == pytest.approx(0.05, abs=1e-9)


def test_unadjusted_looks_err_as_often_as_the_contract_says() -> None:
    assert math.fsum(crossing((1 / 3, 2 / 3, 1), [1.96] * 3)) == pytest.approx(0.107, abs=5e-4)
    assert math.fsum(crossing((0.25, 0.5, 0.75, 1), [1.96] * 4)) == pytest.approx(0.126, abs=5e-4)


def test_one_look_is_an_ordinary_test() -> None:
    plan = SpendingPlan((20,))
    assert at_look(plan, 1) == pytest.approx(0.05)
    assert repeated_p(plan, 1, 0.0314) == pytest.approx(0.0314)


@pytest.mark.parametrize("spending", BOTH)
def test_a_p_at_the_critical_value_is_worth_exactly_alpha(spending: Spending) -> None:
    for confidence, k in itertools.product((0.9, 0.95, 0.99), (1, 2, 3)):
        plan = SpendingPlan((5, 10, 20), spending, confidence)
        critical = at_look(plan, k)
        assert repeated_p(plan, k, critical) == pytest.approx(1 - confidence, rel=1e-6)
        assert repeated_p(plan, k, critical * 0.99) < 1 - confidence < repeated_p(plan, k, critical * 1.01)


@pytest.mark.parametrize("spending", BOTH)
def test_a_repeated_p_rises_with_p_and_is_never_below_it(spending: Spending) -> None:
    plan = SpendingPlan((5, 10, 20), spending)
    for k in (1, 2, 3):
        p_values = [1e-300, 1e-30, 1e-6, 0.001, 0.04, 0.3, 0.9, 1.0]
        found = [repeated_p(plan, k, p) for p in p_values]
        assert found == sorted(found)
        assert all(0 < q <= 1 and q >= p * (1 - 1e-9) for p, q in zip(p_values, found, strict=True))


def test_a_side_that_does_not_grow_leaves_more_information_to_early_looks() -> None:
    growing, against_fixed = SpendingPlan((5, 10, 20)), SpendingPlan((5, 10, 20), fixed=20)
    assert growing.fractions == pytest.approx((0.25, 0.5, 1.0))
    assert against_fixed.fractions == pytest.approx((0.4, 2 / 3, 1.0))
    assert at_look(against_fixed, 1) > at_look(growing, 1)


@pytest.mark.parametrize(
    ("text", "n_runs", "plan"),
    [
        ("5,10,20", None, SpendingPlan((5, 10, 20))),
        (" 5, 10 ,20 ", 10, SpendingPlan((5, 10, 20))),
        ("4", 20, SpendingPlan((5, 10, 15, 20))),
        ("3", 16, SpendingPlan((6, 11, 16))),
        ("1", 8, SpendingPlan((8,))),
        ("pocock:5,10,20", None, SpendingPlan((5, 10, 20), "pocock")),
        ("Pocock: 2", 20, SpendingPlan((10, 20), "pocock")),
        ("obrien-fleming:8,16", None, SpendingPlan((8, 16))),
    ],
)
def test_looks_are_numbers_of_runs_or_a_number_of_equal_steps(
    text: str, n_runs: int | None, plan: SpendingPlan
) -> None:
    assert parse_looks(text, n_runs) == plan


@pytest.mark.parametrize(
    ("text", "n_runs", "told"),
    [
        ("", 20, "--looks 5,10,20"),
        ("five", 20, "--looks 5,10,20"),
        ("5;10", 20, "--looks 5,10,20"),
        ("-5,10", 20, "--looks 5,10,20"),
        ("wang:5,10", 20, "pocock:5,10,20"),
        (":5,10", 20, "pocock:5,10,20"),
        ("10,5", 20, "in increasing order"),
        ("5,5", 20, "in increasing order"),
        ("3,6", 20, "at 5 runs or later"),
        ("4", 16, "at 5 runs or later"),
        ("4", None, "--runs"),
        ("0", 20, "--runs"),
        (",".join(map(str, range(5, 56))), 100, "at most 50"),
    ],
)
def test_other_looks_are_refused_with_what_to_do(text: str, n_runs: int | None, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_looks(text, n_runs)
    assert told in caught.value.hint


N_EXPERIMENTS = 20_000


def welch_p(baseline: Array, candidate: Array) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.asarray(scipy_stats.ttest_ind(candidate, baseline, axis=1, equal_var=False).pvalue)


def error_rate(numbers: tuple[int, ...], critical: list[float], seed: int) -> float:
    """How often t-tests at these numbers of runs tell two samples of one normal distribution apart."""
    rng = np.random.default_rng(seed)
    baseline, candidate = (rng.normal(0, 1, (N_EXPERIMENTS, numbers[-1])) for _ in range(2))
    rejected = np.zeros(N_EXPERIMENTS, dtype=bool)
    for n, p in zip(numbers, critical, strict=True):
        rejected |= welch_p(baseline[:, :n], candidate[:, :n]) < p
    return float(np.mean(rejected))


@pytest.mark.parametrize(
    ("numbers", "shape"), [((8, 16, 24), "pocock"), ((8, 16, 24), "obrien-fleming"), ((5, 10, 15, 20), "pocock")]
)
def test_t_tests_of_few_runs_at_classical_looks_err_in_five_percent(numbers: tuple[int, ...], shape: Spending) -> None:
    rate = error_rate(numbers, nominal(classical_bounds(len(numbers), 0.05, shape)), seed=11)
    assert rate == pytest.approx(0.05, abs=0.006)


@pytest.mark.parametrize("spending", BOTH)
def test_t_tests_of_few_runs_at_declared_looks_err_in_five_percent(spending: Spending) -> None:
    plan = SpendingPlan((5, 10, 20), spending)
    assert error_rate(plan.numbers, [at_look(plan, k) for k in (1, 2, 3)], seed=12) == pytest.approx(0.05, abs=0.006)


def test_looking_without_a_plan_errs_far_more_often() -> None:
    assert error_rate((5, 10, 20), [0.05] * 3, seed=13) > 0.1
