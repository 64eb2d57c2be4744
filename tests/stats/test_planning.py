"""Planning from runs on record against statsmodels' noncentral t, and against what the verdict says."""

import dataclasses
import math

import numpy as np
import pytest
from experiments import scored, selected, with_moments
from scipy.stats import t
from statsmodels.stats.power import TTestIndPower, TTestPower
from studies import study, usual

from deviate.model.design import Planning
from deviate.model.estimates import Interval, Unavailable
from deviate.model.records import Experiment
from deviate.stats.design.power import (
    arrangement_loss,
    detectable_difference,
    detectable_effect,
)
from deviate.stats.hypothesis.two_tests import ask
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

RNG = np.random.default_rng(7)
METRIC = selected(is_primary=True, unit="%", margin=0.3)
BASE = scored("base", with_moments(10, 93.4, 0.22, RNG), METRIC)
NEW = scored("new", with_moments(9, 93.7, 0.21, RNG), METRIC)


def plan_of(*experiments: Experiment, **settings: bool) -> Planning:
    (plan,) = judge(experiments, AnalysisOptions(**settings)).planning  # type: ignore[arg-type]
    return plan


def test_rows_are_what_statsmodels_finds() -> None:
    plan = plan_of(BASE, NEW)
    assert isinstance(plan.sd, float)
    for row in plan.rows:
        expected = TTestIndPower().solve_power(nobs1=row.n, alpha=0.05, power=0.8) * plan.sd
        expected *= arrangement_loss(row.n, row.n, 0.05)
        assert row.detectable == pytest.approx(expected, rel=1e-4)


def test_rows_of_pairs_are_what_statsmodels_finds() -> None:
    plan = plan_of(BASE, NEW, is_paired=True)
    assert isinstance(plan.sd, float)
    assert plan.n_now == (9,)
    for row in plan.rows:
        expected = TTestPower().solve_power(nobs=row.n, alpha=0.05, power=0.8) * plan.sd
        expected *= arrangement_loss(row.n, row.n, 0.05, is_paired=True)
        assert row.detectable == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("is_paired", [False, True])
def test_what_the_runs_on_record_could_see_is_what_the_verdict_says(*, is_paired: bool) -> None:
    findings = judge([BASE, NEW], AnalysisOptions(is_paired=is_paired))
    headline, (plan,) = findings.pairs[0].headline, findings.planning
    assert headline is not None
    assert plan.now == headline.detectable
    assert isinstance(plan.now_interval, Interval)
    assert isinstance(headline.detectable_interval, Interval)
    assert plan.now_interval.low == pytest.approx(headline.detectable_interval.low)
    assert plan.now_interval.high == pytest.approx(headline.detectable_interval.high)


def test_runs_for_the_margin_are_the_fewest_that_see_it() -> None:
    plan = plan_of(BASE, NEW)
    assert isinstance(plan.sd, float)
    assert plan.margin == 0.3
    assert isinstance(plan.runs_for_margin, int)
    power = [TTestIndPower().power(0.3 / plan.sd, plan.runs_for_margin - less, 0.05) for less in (0, 1)]
    assert power[0] >= 0.8 > power[1]
    assert isinstance(plan.runs_for_margin_range, tuple)
    low, high = plan.runs_for_margin_range
    assert isinstance(low, int)
    assert isinstance(high, int)
    assert low < plan.runs_for_margin < high


def test_a_margin_wider_than_the_spread_takes_as_many_runs_as_a_verdict_does() -> None:
    wide = dataclasses.replace(METRIC, margin=50.0)
    plan = plan_of(scored("base", with_moments(10, 93.4, 0.22, RNG), wide), NEW)
    assert plan.runs_for_margin == 5
    assert plan.runs_for_equivalence == 5


def test_runs_for_equivalence_show_it_in_four_of_five_simulated_experiments() -> None:
    plan = plan_of(BASE, NEW)
    n = plan.runs_for_equivalence
    assert isinstance(n, int)
    assert isinstance(plan.sd, float)
    assert _share_shown(n, plan.sd) == pytest.approx(0.8, abs=0.03)
    assert _share_shown(n - 3, plan.sd) < 0.8


def _share_shown(n: int, sd: float) -> float:
    """Share of simulated experiments without a difference whose 90 % interval lies within the margin 0.3."""
    a, b = np.random.default_rng(1).normal(0, sd, (2, 20_000, n))
    variances = np.stack([it.var(axis=1, ddof=1) for it in (a, b)])
    half = t.ppf(0.95, 2 * n - 2) * np.sqrt(variances.sum(axis=0) / n)
    return float((np.abs(a.mean(axis=1) - b.mean(axis=1)) + half < 0.3).mean())


def test_the_observed_difference_plays_no_part() -> None:
    scores = with_moments(9, 93.7, 0.21, np.random.default_rng(3))
    near, far = (scored("new", [score + shift for score in scores], METRIC) for shift in (0.0, 8.0))
    one, other = plan_of(BASE, near), plan_of(BASE, far)
    for name in ("runs_for_margin", "runs_for_margin_range", "runs_for_equivalence"):
        assert getattr(one, name) == getattr(other, name)
    assert [row.n for row in one.rows] == [row.n for row in other.rows]
    assert [row.detectable for row in one.rows] == pytest.approx([row.detectable for row in other.rows])


def test_the_band_is_that_of_the_sd() -> None:
    plan = plan_of(BASE, NEW)
    assert isinstance(plan.sd, float)
    assert isinstance(plan.sd_interval, Interval)
    for row in plan.rows:
        assert row.low is not None
        assert row.high is not None
        assert row.low / row.detectable == pytest.approx(plan.sd_interval.low / plan.sd)
        assert row.high / row.detectable == pytest.approx(plan.sd_interval.high / plan.sd)


def test_the_runs_on_record_and_twice_as_many_have_rows() -> None:
    plan = plan_of(scored("one", with_moments(7, 1.0, 0.1, RNG)), scored("two", with_moments(7, 1.0, 0.1, RNG)))
    assert {7, 14} <= {row.n for row in plan.rows}


def test_a_single_experiment_is_planned_for_two_methods_of_its_spread() -> None:
    plan = plan_of(BASE)
    assert plan.candidate == ""
    assert plan.n_now == (10, 10)
    assert plan.sd == pytest.approx(0.22)
    assert plan.now == pytest.approx(TTestIndPower().solve_power(nobs1=10, alpha=0.05, power=0.8) * 0.22, rel=1e-4)


def test_of_variants_the_one_with_everything_varied_is_planned_by() -> None:
    (plan,) = study(*reversed(usual())).planning
    assert plan.baseline == "algo+impl"


def test_every_candidate_has_a_plan() -> None:
    findings = judge([BASE, NEW, scored("newer", with_moments(5, 93.0, 0.4, RNG), METRIC)])
    assert [plan.candidate for plan in findings.planning] == ["new", "newer"]


@pytest.mark.parametrize("scores", [[], [93.0], [93.0] * 5])
def test_without_spread_there_is_a_reason_and_no_rows(scores: list[float]) -> None:
    plan = plan_of(scored("base", scores, METRIC))
    assert isinstance(plan.sd, Unavailable)
    assert plan.now == plan.sd
    assert plan.rows == ()


def test_without_a_primary_metric_nothing_is_planned() -> None:
    metrics = scored("base", [1.0, 2.0, 3.0], selected("lr", direction=None, role="other"))
    assert judge([metrics]).planning == ()


@pytest.mark.parametrize(("n", "is_paired"), [(5, False), (8, False), (6, True), (8, True)])
def test_the_detectable_difference_is_seen_by_both_tests_in_eighty_percent(n: int, *, is_paired: bool) -> None:
    """Simulated through the decision itself."""
    effect = detectable_effect(n, n, is_paired=True) if is_paired else detectable_effect(n, n)
    draws = np.random.default_rng(3)
    b, a = draws.normal(0, 1, (2000, n)), draws.normal(effect, 1, (2000, n))
    b = np.zeros_like(b) if is_paired else b
    seen = ask(b, a, alpha=0.05, is_paired=is_paired, is_decision_only=True).p_upper < 0.05
    assert np.mean(seen) == pytest.approx(0.8, abs=4 * math.sqrt(0.8 * 0.2 / 2000))


def test_five_runs_cannot_detect_anything_at_a_level_that_none_of_their_arrangements_reaches() -> None:
    assert arrangement_loss(5, 5, 0.001) == math.inf
    few = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0, 7.0]
    assert isinstance(detectable_difference(*few, confidence=0.999), Unavailable)
