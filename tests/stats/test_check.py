import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single, with_moments

from deviate.model import Direction, Experiment, Findings, Interval, SelectedMetric, Unavailable
from deviate.model.check import CheckOutcome, MetricCheck
from deviate.stats import equivalence, judge, paired_equivalence, welch_interval
from deviate.stats.check import Weighed, check_completion, check_control, check_metrics, weigh


def weighed(value: Weighed | Unavailable) -> Weighed:
    assert isinstance(value, Weighed)
    return value


def normal(mean: float, sd: float, n: int, seed: int = 0) -> tuple[float, ...]:
    return with_moments(n, mean, sd, np.random.default_rng(seed))


@pytest.mark.parametrize("direction", ["max", "min"])
@pytest.mark.parametrize("is_paired", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_that_of_the_equivalence_test_and_the_interval_that_of_the_verdict(
    *, seed: int, direction: Direction, is_paired: bool
) -> None:
    rng = np.random.default_rng(seed)
    b, a = rng.normal(0, 1, 9).tolist(), rng.normal(-0.4, 1.5, 9).tolist()
    found = weighed(weigh(b, a, direction=direction, margin=0.7, is_paired=is_paired))
    asked = (paired_equivalence if is_paired else equivalence)(b, a, margin=0.7, direction=direction)
    assert not isinstance(asked, Unavailable)
    assert found.is_within == asked.is_not_worse
    assert found.bound == pytest.approx(asked.interval.low if direction == "max" else asked.interval.high)
    if not is_paired:
        interval = welch_interval(b, a)
        assert isinstance(interval, Interval)
        assert (found.interval.low, found.interval.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("margin", [0.0, 0.5, 1.0, 2.0])
def test_p_is_below_alpha_where_the_whole_interval_lies_beyond_the_margin(margin: float) -> None:
    for shift in np.linspace(-4, 1, 41):
        found = weighed(weigh(normal(0, 1, 8), normal(shift, 1, 8, 1), direction="max", margin=margin))
        assert found.is_beyond == (found.p_value < 0.05)
        assert not (found.is_beyond and found.is_within)


def test_less_is_better_turns_the_rule_around() -> None:
    up = weighed(weigh(normal(0, 1, 8), normal(3, 1, 8, 1), direction="min", margin=0.5))
    down = weighed(weigh(normal(0, 1, 8), normal(-3, 1, 8, 1), direction="min", margin=0.5))
    assert up.is_beyond
    assert down.is_within
    assert not down.is_beyond
    assert up.bound > up.interval.low


@pytest.mark.parametrize("margin", [-0.1, float("nan"), float("inf")])
def test_what_is_no_margin_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="no margin"):
        weigh(normal(0, 1, 8), normal(0, 1, 8), direction="max", margin=margin)


@pytest.mark.parametrize("n", [5, 10])
@pytest.mark.parametrize("margin", [0.0, 1.0])
@pytest.mark.parametrize("is_paired", [False, True])
def test_equal_methods_are_called_worse_no_more_often_than_promised(*, n: int, margin: float, is_paired: bool) -> None:
    """With a margin of 0 in 2.5% of cases, with one of an SD next to never; 4000 pairs of samples each."""
    if is_paired and n < 6:
        n = 6
    draws = np.random.default_rng(7).normal(size=(4000, 2, n)).tolist()
    found = [weigh(b, a, direction="max", margin=margin, is_paired=is_paired) for b, a in draws]
    rate = sum(weighed(it).is_beyond for it in found) / len(found)
    assert rate <= 0.032
    assert (rate >= 0.018) == (margin == 0)


@pytest.mark.parametrize("n", [5, 10])
def test_a_candidate_worse_by_just_the_margin_passes_in_no_more_than_five_percent(n: int) -> None:
    draws = np.random.default_rng(8).normal(size=(4000, 2, n))
    draws[:, 1] -= 1
    found = [weighed(weigh(b, a, direction="max", margin=1)) for b, a in draws.tolist()]
    assert sum(it.is_within for it in found) / len(found) <= 0.062
    assert sum(it.is_beyond for it in found) / len(found) <= 0.032


def judged(
    baseline: Sequence[float], candidate: Sequence[float], *, margin: float | None = None, **changes: object
) -> Findings:
    metric = selected(is_primary=True, unit="%", margin=margin)
    both = [scored("old", baseline, metric), scored("new", candidate, metric)]
    return judge(both, **changes)  # type: ignore[arg-type]


def only(findings: Findings) -> MetricCheck:
    (check,) = check_metrics(findings.pairs, ["test_acc"], confidence=findings.confidence)
    return check


@pytest.mark.parametrize(
    ("shift", "margin", "outcome"),
    [
        (-2.0, None, "worse"),
        (-0.1, None, "undecided"),
        (2.0, None, "passed"),
        (-2.0, 0.5, "worse"),
        (-0.8, 0.5, "undecided"),
        (-0.1, 1.0, "passed"),
        (-0.1, 0.2, "undecided"),
    ],
)
def test_a_metric_is_worse_or_passes_only_where_that_is_shown(
    shift: float, margin: float | None, outcome: CheckOutcome
) -> None:
    check = only(judged(normal(90, 0.5, 8), normal(90 + shift, 0.5, 8, 1), margin=margin))
    assert check.outcome == outcome, check.reason
    assert check.reason


@pytest.mark.parametrize("margin", [None, 1.0])
def test_fewer_than_five_runs_on_a_side_are_never_worse(margin: float | None) -> None:
    check = only(judged(normal(90, 0.1, 12), normal(10, 0.1, 4), margin=margin))
    assert (check.outcome, check.reason) == (
        "undecided", "needs 5 runs in each, has 12 and 4: with fewer a check is always undecided",
    )  # fmt: skip


def test_five_pairs_are_too_few_and_six_are_enough() -> None:
    five = judged(normal(90, 0.1, 5), normal(80, 0.2, 5, 1), is_paired=True)
    six = judged(normal(90, 0.1, 6), normal(80, 0.2, 6, 1), is_paired=True)
    assert "needs 6 pairs, has 5" in only(five).reason
    assert only(six).outcome == "worse"


def test_identical_scores_pass_and_a_constant_difference_is_undecided() -> None:
    same = only(judged([0.5] * 5, [0.5] * 5, margin=0.1))
    assert (same.outcome, same.reason) == ("passed", "all 5 + 5 values equal")
    apart = only(judged([0.5] * 5, [0.4] * 5, margin=0.01))
    assert apart.outcome == "undecided"
    assert "constant difference" in apart.reason


def test_runs_that_score_what_their_partners_do_have_not_changed_whatever_their_spread() -> None:
    values = normal(90, 5, 8)
    findings = judged(values, values, margin=0.01)
    (alone,) = check_metrics(findings.pairs, ["test_acc"], confidence=0.95)
    (partner,) = check_metrics(findings.pairs, ["test_acc"], confidence=0.95, partners=["new"])
    assert (alone.outcome, partner.outcome) == ("undecided", "passed")
    moved = judged(values, [*values[:-1], values[-1] + 1e-9], margin=0.01)
    (check,) = check_metrics(moved.pairs, ["test_acc"], confidence=0.95, partners=["new"])
    assert check.outcome == "undecided"


def test_runs_added_after_a_look_are_no_proof_of_worse() -> None:
    metric = selected(is_primary=True)
    looked = dataclasses.replace(scored("new", normal(80, 0.5, 8), metric), n_unplanned_looks=2)
    check = only(judge([scored("old", normal(90, 0.5, 8), metric), looked]))
    assert (check.outcome, check.reason) == (
        "undecided", "p-values not valid: 2 unplanned looks; verdict withheld",
    )  # fmt: skip


def test_at_a_declared_look_the_repeated_interval_decides() -> None:
    metric = selected(is_primary=True)
    old = scored("old", normal(90, 0.5, 8), metric)
    new = scored("new", normal(89.3, 0.5, 8, 1), metric)
    assert only(judge([old, new])).outcome == "worse"
    at_look = [dataclasses.replace(it, looks=(8, 16, 24)) for it in (old, new)]
    check = only(judge(at_look))
    assert check.outcome == "undecided"
    assert check.bound_confidence > 0.99


def two_metrics(shifts: Sequence[float]) -> list[Experiment]:
    metrics: list[SelectedMetric] = [selected("acc", is_primary=True), selected("loss", direction="min")]
    sides = []
    for side, shift in enumerate((0.0, 1.0)):
        scores = [normal(9 - shift * shifts[0], 1, 10, side), normal(9 + shift * shifts[1], 1, 10, side + 2)]
        rows = zip(*scores, strict=True)
        runs = [run(i, {"acc": single(acc), "loss": single(loss)}) for i, (acc, loss) in enumerate(rows)]
        sides.append(experiment(f"side{side}", runs, metrics))
    return sides


def test_several_metrics_share_the_error_by_the_method_of_holm() -> None:
    """A p of .04 is enough alone, and is not among two."""
    findings = judge(two_metrics((0.98, 0.0)))
    (alone,) = check_metrics(findings.pairs, ["acc"], confidence=0.95)
    both = check_metrics(findings.pairs, ["acc", "loss"], confidence=0.95)
    assert (alone.outcome, alone.n_family) == ("worse", 1)
    assert [it.n_family for it in both] == [2, 2]
    assert not isinstance(alone.p_adjusted, Unavailable)
    assert both[0].p_adjusted == pytest.approx(2 * alone.p_adjusted)
    assert both[0].outcome == "undecided"
    assert "adjusted for 2 questions" in both[0].reason


def test_the_runs_that_would_decide_come_from_spread_and_margin_and_never_from_the_difference() -> None:
    """80% power of a one-sided test at 5% takes 14 of each for a margin of 1 SD, and 51 for half of one."""
    for shift in (0.0, -0.9, 3.0):
        assert only(judged(normal(0, 1, 10), normal(shift, 1, 10, 1), margin=1.0)).needed == 14
    assert only(judged(normal(0, 1, 10), normal(0, 1, 10, 1), margin=0.5)).needed == 51
    assert isinstance(only(judged(normal(0, 1, 10), normal(0, 1, 10, 1))).needed, Unavailable)


@pytest.mark.parametrize(
    ("n_old", "n_new", "n_runs", "outcome"),
    [
        (10, 10, 10, "passed"),
        (8, 10, 10, "passed"),
        (10, 9, 10, "undecided"),
        (10, 2, 10, "worse"),
        (5, 0, 5, "worse"),
        (4, 0, 4, "undecided"),
    ],
)
def test_more_failures_are_worse_where_boschloos_test_shows_it(
    n_old: int, n_new: int, n_runs: int, outcome: CheckOutcome
) -> None:
    metric = selected(is_primary=True)
    sides = [
        experiment(
            name,
            [
                run(i, {metric.name: single(float(i))}, status="completed" if i < n_completed else "crashed")
                for i in range(n_runs)
            ],
            [metric],
        )
        for name, n_completed in (("old", n_old), ("new", n_new))
    ]
    (check,) = check_completion(judge(sides).pairs, confidence=0.95)
    assert check.outcome == outcome, check.reason


def test_a_control_is_intact_only_where_its_runs_are_bitwise_equal() -> None:
    def control(*scores: float) -> Experiment:
        runs = [run(i, {"test_acc": single(score)}) for i, score in enumerate(scores)]
        return experiment("train", runs, [selected()], variant="control")

    assert check_control("train", control(0.5, 0.5, 0.5)).outcome == "intact"
    broken = check_control("train", control(0.5, float(np.nextafter(0.5, 1)), 0.5))
    assert broken.outcome == "broken"
    assert "test_acc differs at main-loop step 0: 0.5 in replicate 0, 0.5000000000000001 in replicate 1" in (
        broken.reason
    )
    assert check_control("train", control(0.5)).outcome == "absent"
    assert check_control("train", None).outcome == "absent"
