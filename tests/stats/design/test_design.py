import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from scipy import stats as scipy_stats
from statsmodels.stats import power as statsmodels_power

from deviate.errors import InputError
from deviate.model.design import Pilot, Question
from deviate.model.estimates import Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.stats.design.design import equivalence_power, find_design, inflation, power_of
from deviate.stats.design.group_sequential import SpendingPlan, at_look
from deviate.stats.design.power import arrangement_loss


@pytest.mark.parametrize(("effect", "runs"), [(0.5, 64), (0.8, 26), (1.0, 17), (1.5, 9), (2.0, 6)])
def test_runs_for_an_effect_are_those_of_the_contract(effect: float, runs: int) -> None:
    assert find_design(Question(effect=effect)).runs == runs


def test_no_plan_asks_for_fewer_runs_than_a_verdict_needs() -> None:
    assert find_design(Question(effect=10.0)).runs == 5
    assert find_design(Question(effect=10.0, correlation=0.0)).runs == 6


def test_rows_are_those_of_the_contract() -> None:
    rows = {row.n: row for row in find_design(Question()).rows}
    assert rows[3].detectable == rows[3].power == Unavailable(Reason.NO_VERDICT)
    for n, detectable in {5: 2.02, 8: 1.51, 10: 1.32, 16: 1.02, 20: 0.91, 30: 0.74}.items():
        assert rows[n].detectable / arrangement_loss(n, n, 0.05) == pytest.approx(detectable, abs=0.005)
    for n, half_width in {3: 2.48, 5: 1.24, 8: 0.84, 10: 0.72, 16: 0.53, 20: 0.47, 30: 0.37}.items():
        assert rows[n].half_width == pytest.approx(half_width, abs=0.005)
    for n, ends in {3: (0.52, 6.28), 5: (0.60, 2.87), 8: (0.66, 2.04), 30: (0.80, 1.34)}.items():
        assert (rows[n].sd_low, rows[n].sd_high) == (
            pytest.approx(ends[0], abs=0.005),
            pytest.approx(ends[1], abs=0.005),
        )


def test_differences_that_usual_numbers_find_are_found_by_both_tests_in_four_of_five_cases() -> None:
    """Welch's t and all arrangements of the permutation test; 20,000 trials have an SE of 0.3%."""
    usual = dict(find_design(Question()).usual)
    assert usual == {
        5: pytest.approx(2.1, abs=0.05),
        10: pytest.approx(1.3, abs=0.05),
        20: pytest.approx(0.9, abs=0.05),
    }
    chosen = np.array(list(itertools.combinations(range(10), 5)))
    arrangements = np.zeros((len(chosen), 10))
    arrangements[np.arange(len(chosen))[:, None], chosen] = 1
    scores = np.random.default_rng(1).normal(size=(20_000, 10)) + np.repeat([0.0, usual[5]], 5)
    sums = [((scores**k) @ arrangements.T, (scores**k).sum(axis=1)[:, None]) for k in (1, 2)]
    (s, all_s), (q, all_q) = sums
    variances = [(q - s**2 / 5) / 4, (all_q - q - (all_s - s) ** 2 / 5) / 4]
    t = np.abs((all_s - 2 * s) / 5 / np.sqrt((variances[0] + variances[1]) / 5))
    p_permutation = (t >= t[:, :1] - 1e-9).mean(axis=1)  # the first arrangement is the one observed
    p_welch = scipy_stats.ttest_ind(scores[:, :5], scores[:, 5:], axis=1, equal_var=False).pvalue
    assert float((np.maximum(p_permutation, p_welch) < 0.05).mean()) == pytest.approx(0.8, abs=0.015)


def test_runs_that_tell_spreads_apart_are_those_of_the_contract() -> None:
    assert find_design(Question()).spread_runs == ((1.25, 160), (1.5, 50), (2.0, 19), (3.0, 9))


@pytest.mark.parametrize(("n", "power"), [(5, 0.069), (10, 0.391), (16, 0.737), (20, 0.856), (30, 0.970)])
def test_power_to_show_equivalence_is_that_of_simulated_tests(n: int, power: float) -> None:
    """Of Welch's tests: the margin is smaller by what the permutation tests cost."""
    found = equivalence_power(arrangement_loss(n, n, 0.1), n, Question())
    assert found == pytest.approx(power, abs=0.001)
    draws = np.random.default_rng(n).normal(0, 1, (20_000, 2, n))
    difference = draws.mean(axis=2) @ np.array([-1.0, 1.0])
    se = np.sqrt(draws.var(axis=2, ddof=1).mean(axis=1) * 2 / n)
    shown = np.abs(difference) + scipy_stats.t.isf(0.05, 2 * n - 2) * se < 1
    assert found == pytest.approx(float(shown.mean()), abs=4 * math.sqrt(0.25 / 20_000))


@pytest.mark.parametrize("correlation", [None, 0.0, 0.6])
@pytest.mark.parametrize("n", [3, 8, 25])
def test_power_is_that_of_statsmodels(n: int, correlation: float | None) -> None:
    """For an effect that is larger by what the permutation test costs."""
    question = Question(correlation=correlation)
    effect = 0.9 * arrangement_loss(n, n, 0.05, is_paired=correlation is not None)
    if correlation is None:
        expected = statsmodels_power.TTestIndPower().power(0.9, n, 0.05)
    else:
        expected = statsmodels_power.TTestPower().power(0.9 / math.sqrt(2 * (1 - correlation)), n, 0.05)
    assert power_of(effect, n, question) == pytest.approx(float(expected), abs=1e-6)


def test_correlated_pairs_take_fewer_runs_and_uncorrelated_ones_more() -> None:
    plain = find_design(Question(effect=1.0)).runs
    uncorrelated = find_design(Question(effect=1.0, correlation=0.0)).runs
    correlated = find_design(Question(effect=1.0, correlation=0.8)).runs
    assert not isinstance(plain, Unavailable)
    assert not isinstance(uncorrelated, Unavailable)
    assert not isinstance(correlated, Unavailable)
    assert correlated < plain < uncorrelated


def test_several_candidates_share_the_level() -> None:
    one, four = (find_design(Question(effect=1.0, n_candidates=k)).runs for k in (1, 4))
    assert four == find_design(Question(effect=1.0, confidence=1 - 0.05 / 4)).runs
    assert one == 17


def test_a_rank_test_takes_the_runs_of_noethers_formula() -> None:
    """P(candidate > baseline) = .75, power .8 and two-sided .05: (1.96 + .8416)^2 / (6 * .25^2) = 20.9."""
    effect = float(special.ndtri(0.75)) * math.sqrt(2)
    assert find_design(Question(effect=effect)).rank_runs == 21


@pytest.mark.parametrize("spending", ["obrien-fleming", "pocock"])
def test_declared_looks_keep_the_power_they_were_planned_for(spending: str) -> None:
    """Simulated with the z of independent increments, at the information that the inflation gives."""
    question = Question(effect=1.0, n_looks=4, spending=spending)  # type: ignore[arg-type]
    most, mean = inflation(4, question.spending, question)
    fixed = float(special.ndtri(0.975) + special.ndtri(0.8))
    steps = np.random.default_rng(1).normal(fixed * math.sqrt(most) / 4, 0.5, (40_000, 4)).cumsum(axis=1)
    fractions = np.arange(1, 5) / 4
    plan = SpendingPlan((25, 50, 75, 100), question.spending)
    critical = special.ndtri(1 - np.array([at_look(plan, k) for k in range(1, 5)]) / 2)
    beyond = np.abs(steps / np.sqrt(fractions)) > critical
    assert beyond.any(axis=1).mean() == pytest.approx(0.8, abs=0.01)
    ended = np.where(beyond.any(axis=1), beyond.argmax(axis=1), 3)
    assert most * fractions[ended].mean() == pytest.approx(mean, abs=0.01)


def test_looks_end_at_the_most_runs_and_cost_fewer_on_average() -> None:
    design = find_design(Question(effect=1.0, n_looks=4))
    assert design.looks == (5, 9, 14, 18)
    assert isinstance(design.expected_runs, float)
    assert design.expected_runs < 17


def test_a_pilots_interval_gives_a_range_of_runs() -> None:
    pilot = Pilot("acc", "%", 10, 0.2, Interval(0.138, 0.365, 0.95, "chi-square"))
    low, high = find_design(Question(effect=1.0), pilot).runs_range  # type: ignore[misc]
    assert low == find_design(Question(effect=0.2 / 0.138)).runs
    assert high == find_design(Question(effect=0.2 / 0.365)).runs
    assert low < 17 < high


@pytest.mark.parametrize(
    "change",
    [{"effect": 0.0}, {"effect": -1.0}, {"power": 1.0}, {"power": 0.04}, {"correlation": 1.0}, {"margin": 0.0}],
)
def test_figures_out_of_range_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(InputError):
        find_design(replace(Question(), **change))  # type: ignore[arg-type]


def test_an_effect_next_to_nothing_has_a_named_answer() -> None:
    design = find_design(Question(effect=1e-6, margin=1e-6, n_looks=3))
    assert design.runs == Unavailable(Reason.A_MILLION)
    assert design.margin_runs == Unavailable(Reason.A_MILLION)
    assert design.rank_runs == Unavailable(Reason.A_MILLION)
    assert design.expected_runs == Unavailable(Reason.A_MILLION)


def test_a_huge_effect_is_seen_for_certain_but_for_the_chance_of_the_sd() -> None:
    design = find_design(Question(effect=1e10), numbers=(5, 30))
    assert {row.power for row in design.rows} == {1.0}
    question = Question(confidence=0.9999)
    powers = [power_of(10.0**exponent, 2, question) for exponent in range(11)]
    assert powers == sorted(powers)
    assert 0 < powers[0] < 0.01
    assert powers[-1] == pytest.approx(1)


def test_looks_at_pairs_begin_where_a_verdict_on_pairs_does() -> None:
    assert min(find_design(Question(effect=0.5, correlation=-0.5, n_looks=50)).looks) == 8
