"""Curves compared: aligned at common steps, a band over all of them at once, areas."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import close, experiment, metric, run
from scipy import integrate, stats

from deviate.model.comparisons import CurveComparison
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Experiment, Run, Series, Status
from deviate.stats.hypothesis.curves import MOST_STEPS, compare_curves, simultaneous_quantile

LOSS = metric("loss", direction="min")
Curves = NDArray[np.float64]


def recorded(curves: Sequence[Sequence[float]] | Curves, status: Status = "completed") -> list[Run]:
    return [run(index, {"loss": [float(value) for value in curve]}, status) for index, curve in enumerate(curves)]


def side(runs: Sequence[Run]) -> Experiment:
    return experiment("e", [LOSS], {}, runs=runs)


def compared(baseline: Sequence[Run], candidate: Sequence[Run], *, confidence: float = 0.95) -> CurveComparison:
    found = compare_curves(
        side(baseline), side(candidate), LOSS, LOSS, rng=np.random.default_rng(0), confidence=confidence
    )
    assert isinstance(found, CurveComparison)
    return found


def noisy(rng: np.random.Generator, n: int, n_steps: int = 20) -> Curves:
    return rng.standard_normal((n, n_steps)).cumsum(axis=1) + rng.standard_normal((n, 1))


def test_means_differences_and_pointwise_intervals_are_those_of_each_step() -> None:
    rng = np.random.default_rng(1)
    b, a = noisy(rng, 5), noisy(rng, 7)
    found = compared(recorded(b), recorded(a))
    assert (found.steps, found.n) == (tuple(range(20)), (5, 7))
    assert found.baseline == pytest.approx(b.mean(axis=0))
    assert found.difference == pytest.approx(a.mean(axis=0) - b.mean(axis=0))
    low, high = stats.t.interval(0.95, 6, a.mean(axis=0), stats.sem(a, axis=0))
    assert found.candidate_half_widths == pytest.approx((high - low) / 2)
    assert found.note == "exploratory"


def test_the_band_is_wider_than_pointwise_intervals_and_narrower_for_curves_that_go_together() -> None:
    rng = np.random.default_rng(2)
    level = rng.standard_normal((2, 8, 1))
    ragged, together = rng.standard_normal((2, 8, 50)), level + 0.01 * rng.standard_normal((2, 8, 50))
    widths = []
    for b, a in (ragged, together):
        found = compared(recorded(b), recorded(a))
        ends = np.array(found.band)
        pointwise = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
        widths.append(np.median((ends[:, 1] - ends[:, 0]) / (pointwise.high - pointwise.low)))
        assert found.band_method.startswith("simultaneous over 50 steps")
    assert 1 < widths[1] < widths[0]


def test_the_first_step_at_which_sides_differ_is_where_the_band_leaves_zero() -> None:
    rng = np.random.default_rng(3)
    b, a = 0.1 * rng.standard_normal((2, 10, 30))
    a[:, 12:] += 2
    found = compared(recorded(b), recorded(a))
    assert found.first_difference == 12
    assert compared(recorded(b), recorded(b[::-1])).first_difference is None


def test_steps_that_some_run_did_not_report_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(4)
    runs = recorded(noisy(rng, 5, 10))
    short = recorded(noisy(rng, 5, 7))
    gap = replace(runs[0], series={"loss": Series((0, 1, 3, 4, 5, 6, None), (1.0, 2.0, math.nan, 4.0, 5.0, 6.0, 9.0))})
    found = compared([gap, *runs[1:]], short)
    assert found.steps == (0, 1, 4, 5, 6)
    assert found.n_left_out == 5
    assert found.baseline[2] == pytest.approx(np.mean([4.0, *(one.series["loss"].values[4] for one in runs[1:])]))


def test_several_values_within_a_step_enter_by_their_mean() -> None:
    runs = [
        replace(run(0, {}), series={"loss": Series((0, 0, 1, 2, 2, 2), (1.0, 3.0, 5.0, 6.0, 7.0, 8.0))}),
        replace(run(1, {}), series={"loss": Series((0, 1, 1, 2), (4.0, math.nan, 5.0, 9.0))}),
    ]
    found = compared(runs, recorded([[0.0] * 3] * 2))
    assert found.steps == (0, 1, 2)
    assert found.baseline == (3.0, 5.0, 8.0)


def test_runs_that_failed_or_never_reported_are_no_curves() -> None:
    rng = np.random.default_rng(5)
    b, a = recorded(noisy(rng, 5)), recorded(noisy(rng, 6))
    failed = [replace(run(9, {"loss": [1.0]}), status="diverged"), run(10, {"acc": [1.0]})]
    assert compared([*b, *failed], a) == compared(b, a)
    nothing = compare_curves(side(failed), side(a), LOSS, LOSS, rng=np.random.default_rng(0))
    assert isinstance(nothing, Unavailable)


def test_one_common_step_is_no_curve() -> None:
    once = recorded([[1.0]] * 5)
    found = compare_curves(side(once), side(recorded([[1.0, 2.0]] * 5)), LOSS, LOSS, rng=np.random.default_rng(0))
    assert found == Unavailable(Reason.SHORT_CURVE)


def test_below_five_runs_there_are_differences_but_no_band() -> None:
    rng = np.random.default_rng(6)
    found = compared(recorded(noisy(rng, 4)), recorded(noisy(rng, 5)))
    assert (found.band, found.first_difference) == ((), None)
    assert found.band_method == "no band: needs 5 runs in each, has 4 and 5"
    single = compared(recorded(noisy(rng, 1)), recorded(noisy(rng, 1)))
    assert (single.baseline_half_widths, len(single.difference)) == ((), 20)


def test_of_steps_without_spread_nothing_is_said_unless_they_are_equal() -> None:
    rng = np.random.default_rng(7)
    b, a = rng.standard_normal((2, 6, 10))
    b[:, 0] = a[:, 0] = 0.7
    b[:, 1], a[:, 1] = 0.1, 0.3
    found = compared(recorded(b), recorded(a))
    assert found.band[:2] == ((0.0, 0.0), (-math.inf, math.inf))
    assert np.isfinite(found.band[2:]).all()
    assert found.band_method.endswith("; 2 steps without spread not judged")
    assert found.first_difference not in (0, 1)


def test_curves_without_any_spread_are_described() -> None:
    same, other = recorded([[1.0, 2.0, 4.0]] * 5), recorded([[1.0, 2.0, 3.0]] * 5)
    identical = compared(same, same)
    assert (identical.band, identical.first_difference) == (((0.0, 0.0),) * 3, None)
    assert identical.note == "exploratory; no spread"
    constant = compared(same, other)
    assert constant.first_difference is None
    assert constant.area_difference == pytest.approx(-0.25)
    assert isinstance(constant.area_test, Unavailable)


@pytest.mark.filterwarnings("error")
def test_one_side_without_spread_huge_values_and_offsets_are_compared_without_a_warning() -> None:
    rng = np.random.default_rng(8)
    curves = rng.standard_normal((6, 12))
    for b, a in (
        (np.tile(np.arange(12.0), (5, 1)), curves),
        (1e140 * curves[:5], 1e140 * curves),
        (1e9 + curves[:5], 1e9 + curves),
        (1e-140 * curves[:5], 1e-140 * curves),
    ):
        found = compared(recorded(b), recorded(a))
        assert np.isfinite(found.band).all()
        assert isinstance(found.area_test, Test)


def test_the_band_moves_with_shifts_and_scales() -> None:
    rng = np.random.default_rng(9)
    b, a = noisy(rng, 5), noisy(rng, 6)
    plain, moved = compared(recorded(b), recorded(a)), compared(recorded(3 * b + 7), recorded(3 * a + 7))
    assert np.array(moved.band) == pytest.approx(3 * np.array(plain.band))
    assert moved.area_difference == pytest.approx(3 * plain.area_difference)


def test_the_order_of_runs_does_not_matter_and_the_same_generator_gives_the_same_band() -> None:
    rng = np.random.default_rng(10)
    b, a = noisy(rng, 5), noisy(rng, 6)
    first, again = compared(recorded(b), recorded(a)), compared(recorded(b), recorded(a))
    assert first == again
    turned = compared(recorded(b[::-1]), recorded(a[::-1]))
    assert np.array(turned.band) == pytest.approx(np.array(first.band))


def test_the_area_is_the_mean_over_the_curve_compared_by_welch() -> None:
    rng = np.random.default_rng(11)
    b, a = noisy(rng, 5), noisy(rng, 6)
    found = compared(recorded(b), recorded(a))
    areas = [integrate.trapezoid(curves, axis=1) / 19 for curves in (b, a)]
    theirs = stats.ttest_ind(areas[1], areas[0], equal_var=False)
    assert isinstance(found.area_test, Test)
    assert isinstance(found.area_interval, Interval)
    assert close(found.area_test.p_value, float(theirs.pvalue))
    assert close(found.area_interval.low, float(theirs.confidence_interval().low))
    assert close(float(found.area_difference), float(areas[1].mean() - areas[0].mean()))


def test_long_curves_are_compared_at_equally_spaced_steps_and_their_areas_over_all() -> None:
    rng = np.random.default_rng(12)
    b, a = noisy(rng, 5, 1001), noisy(rng, 5, 1001)
    a[:, 5] += 1e4
    found = compared(recorded(b), recorded(a))
    assert (len(found.steps), found.steps[0], found.steps[-1]) == (MOST_STEPS, 0, 1000)
    assert set(np.diff(found.steps)) == {10, 11}
    assert found.note == f"exploratory; compared at {MOST_STEPS} of 1001 steps, equally spaced"
    assert found.n_left_out == 0
    assert close(float(found.area_difference), float((integrate.trapezoid(a - b, axis=1) / 1000).mean()))


@pytest.mark.parametrize(
    ("kind", "n_b", "n_a", "spread"),
    [
        ("white", 5, 5, 1.0),
        ("white", 15, 5, 3.0),
        ("remembering", 5, 5, 3.0),
        ("remembering", 10, 10, 1.0),
        ("smooth", 5, 5, 1.0),
        ("smooth", 15, 5, 3.0),
    ],
)
def test_the_band_holds_the_true_curve_as_often_as_it_says(kind: str, n_b: int, n_a: int, spread: float) -> None:
    """200 comparisons each: not below 95 % by more than 1.5 points and twice the standard error."""
    rng = np.random.default_rng(13)
    n_steps, n_covered = 40, 0
    for _ in range(200):
        curves = _made(kind, n_b + n_a, n_steps, rng)
        b, a = curves[:n_b], spread * curves[n_b:]
        quantile = simultaneous_quantile(b, a, confidence=0.95, rng=rng, n_numbers=100_000)
        t = stats.ttest_ind(a, b, equal_var=False).statistic
        n_covered += bool(np.abs(t).max() <= quantile)
    assert n_covered / 200 >= 0.935 - 2 * math.sqrt(0.95 * 0.05 / 200)


def _made(kind: str, n: int, n_steps: int, rng: np.random.Generator) -> Curves:
    if kind == "white":
        return rng.standard_normal((n, n_steps))
    if kind == "remembering":
        curves = rng.standard_normal((n, n_steps))
        for step in range(1, n_steps):
            curves[:, step] = 0.95 * curves[:, step - 1] + math.sqrt(1 - 0.95**2) * curves[:, step]
        return curves
    places = np.arange(n_steps)
    bumps = np.exp(-0.5 * ((places[:, None] - np.arange(-20, n_steps + 20)) / 6) ** 2)
    return rng.standard_normal((n, n_steps + 40)) @ bumps.T


def test_a_difference_is_seen_where_there_is_none_in_at_most_five_percent() -> None:
    rng = np.random.default_rng(14)
    n_seen = 0
    for _ in range(100):
        runs = recorded(noisy(rng, 12, 10))
        n_seen += compared(runs[:6], runs[6:]).first_difference is not None
    assert n_seen <= 9
