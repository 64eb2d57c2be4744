import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, single, with_moments

from deviate.model.analysis import Direction
from deviate.model.check import CheckOutcome, MetricCheck
from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment
from deviate.report.check_reasons import completion_reason, control_reason, metric_reason
from deviate.stats.check import Weighed, check_completion, check_control, check_metrics, weigh
from deviate.stats.hypothesis.both import both_interval, equivalence
from deviate.stats.hypothesis.two_tests import ask
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions


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
    asked = equivalence(b, a, margin=0.7, direction=direction, is_paired=is_paired)
    assert not isinstance(asked, Unavailable)
    assert found.is_within == asked.is_not_worse
    assert found.bound == pytest.approx(asked.interval.low if direction == "max" else asked.interval.high)
    if not is_paired:
        interval = both_interval(b, a)
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
    with pytest.raises(ValueError, match="must be 0 or positive"):
        weigh(normal(0, 1, 8), normal(0, 1, 8), direction="max", margin=margin)


@pytest.mark.parametrize(("n_b", "n_a"), [(5, 5), (6, 12)])
def test_a_candidate_worse_by_just_the_margin_passes_in_no_more_than_five_percent(n_b: int, n_a: int) -> None:
    """Of many at once; a part of them one by one gives the same answers."""
    rng = np.random.default_rng(8)
    b, a = rng.exponential(size=(1000, n_b)), rng.exponential(size=(1000, n_a)) - 1
    is_within = ask(b, a, -1.0, alpha=0.05, side="above", is_decision_only=True).p_upper < 0.05
    assert np.mean(is_within) <= 0.05 + 3 * (0.05 * 0.95 / 1000) ** 0.5
    for i in range(10):
        one = weighed(weigh(b[i].tolist(), a[i].tolist(), direction="max", margin=1))
        assert one.is_within == is_within[i]
        assert one.is_within == (one.bound > -1)


def judged(
    baseline: Sequence[float], candidate: Sequence[float], *, margin: float | None = None, **changes: object
) -> Findings:
    metric = selected(is_primary=True, unit="%", margin=margin)
    both = [scored("old", baseline, metric), scored("new", candidate, metric)]
    return judge(both, AnalysisOptions(**changes))  # type: ignore[arg-type]


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
    assert check.outcome == outcome, metric_reason(check)
    assert metric_reason(check)


@pytest.mark.parametrize("margin", [None, 1.0])
def test_fewer_than_five_runs_on_a_side_are_never_worse(margin: float | None) -> None:
    check = only(judged(normal(90, 0.1, 12), normal(10, 0.1, 4), margin=margin))
    assert (check.outcome, metric_reason(check)) == (
        "undecided", "needs 5 runs in each, has 12 and 4",
    )  # fmt: skip


def test_five_pairs_are_too_few_and_six_are_enough() -> None:
    five = judged(normal(90, 0.1, 5), normal(80, 0.2, 5, 1), is_paired=True)
    six = judged(normal(90, 0.1, 6), normal(80, 0.2, 6, 1), is_paired=True)
    assert "needs 6 pairs, has 5" in metric_reason(only(five))
    assert only(six).outcome == "worse"


def test_identical_scores_pass() -> None:
    same = only(judged([0.5] * 5, [0.5] * 5, margin=0.1))
    assert (same.outcome, metric_reason(same)) == ("passed", "all 5 + 5 values equal")


@pytest.mark.parametrize(
    ("score", "margin", "outcome", "told"),
    [
        (0.4, 0.01, "worse", "constant difference -0.1 in 5 v 5 runs, no spread observed: beyond the margin"),
        (0.4, None, "worse", "constant difference -0.1 in 5 v 5 runs, no spread observed: on the worse side of 0"),
        (0.4, 0.2, "passed", "constant difference -0.1 in 5 v 5 runs, no spread observed: not worse by more than"),
        (0.6, None, "passed", "constant difference 0.1 in 5 v 5 runs, no spread observed: on the better side of 0"),
    ],
)
def test_a_constant_difference_is_decided_by_sign_and_margin(
    score: float, margin: float | None, outcome: str, told: str
) -> None:
    check = only(judged([0.5] * 5, [score] * 5, margin=margin))
    assert check.outcome == outcome
    assert metric_reason(check).startswith(told)
    assert only(judged([0.5] * 5, [score] * 4, margin=margin)).outcome == "undecided", "four runs are too few"


def test_pairs_that_all_differ_by_as_much_are_decided_by_it() -> None:
    before = normal(90, 1, 8)
    check = only(judged(before, [it - 1 for it in before], margin=0.5, is_paired=True))
    assert (check.outcome, metric_reason(check)) == (
        "worse", "constant difference -1 in 8 pairs, no spread of the differences observed: beyond the margin",
    )  # fmt: skip


def test_runs_that_score_what_their_partners_do_have_not_changed_whatever_their_spread() -> None:
    values = normal(90, 5, 8)
    findings = judged(values, values, margin=0.01)
    (alone,) = check_metrics(findings.pairs, ["test_acc"], confidence=0.95)
    (partner,) = check_metrics(findings.pairs, ["test_acc"], confidence=0.95, partners=["new"])
    assert (alone.outcome, partner.outcome) == ("undecided", "passed")
    moved = judged(values, [*values[:-1], values[-1] + 1e-9], margin=0.01)
    (check,) = check_metrics(moved.pairs, ["test_acc"], confidence=0.95, partners=["new"])
    assert check.outcome == "undecided"


def test_with_several_questions_or_looks_eight_pairs_are_needed() -> None:
    pairs = judged(normal(90, 0.1, 7), normal(80, 0.2, 7, 1), is_paired=True)
    assert only(pairs).outcome == "worse"
    (check,) = check_metrics(pairs.pairs, ["test_acc"], confidence=0.99)
    assert "needs 8 pairs, has 7" in metric_reason(check)


def test_a_candidate_that_fails_more_often_passes_only_if_its_failed_runs_ranked_worst_allow_it() -> None:
    metric = selected(is_primary=True, margin=1.0)
    statuses = ["completed"] * 8 + ["crashed"] * 4
    new = experiment(
        "new",
        [run(i, {metric.name: single(90 + 0.1 * (i % 5))}, status=it) for i, it in enumerate(statuses)],
        [metric],
    )
    old = scored("old", normal(90, 0.2, 12), metric)
    check = only(judge([old, new]))
    assert check.outcome == "undecided"
    failed = "4 of 12 runs of new and 0 of 12 of old failed"
    assert metric_reason(check) == f"not worse among completed runs, but {failed}"
    passed = only(judge([old, scored("new", normal(90, 0.2, 12, 1), metric)]))
    assert metric_reason(passed).endswith("; no failure in 12 runs: the failure rate may be as high as 22%")


def test_runs_added_after_a_look_are_no_proof_of_worse() -> None:
    metric = selected(is_primary=True)
    looked = dataclasses.replace(scored("new", normal(80, 0.5, 8), metric), n_unplanned_looks=2)
    check = only(judge([scored("old", normal(90, 0.5, 8), metric), looked]))
    assert (check.outcome, metric_reason(check)) == (
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


def test_at_a_look_whose_level_no_arrangement_reaches_nothing_passes_and_nothing_is_worse() -> None:
    metric = selected(is_primary=True, margin=0.5)
    for mean in (93.0, 87.0):
        both = scored("old", normal(90, 0.2, 5), metric), scored("new", normal(mean, 0.2, 5, 1), metric)
        check = only(judge([dataclasses.replace(it, looks=(5, 10, 20)) for it in both]))
        assert check.outcome == "undecided"
        assert metric_reason(check).startswith("the smallest possible p of so few runs is 0.0079, not below ")


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
    assert "adjusted for 2 questions" in metric_reason(both[0])


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
    assert check.outcome == outcome, completion_reason(check)


def test_a_control_is_intact_only_where_its_runs_are_bitwise_equal() -> None:
    def control(*scores: float) -> Experiment:
        runs = [run(i, {"test_acc": single(score)}) for i, score in enumerate(scores)]
        return experiment("train", runs, [selected()], variant="control")

    assert check_control("train", control(0.5, 0.5, 0.5)).outcome == "intact"
    broken = check_control("train", control(0.5, float(np.nextafter(0.5, 1)), 0.5))
    assert broken.outcome == "broken"
    assert "test_acc differs at main-loop step 0: 0.5 in replicate 0, 0.5000000000000001 in replicate 1" in (
        control_reason(broken)
    )
    assert check_control("train", control(0.5)).outcome == "absent"
    assert check_control("train", None).outcome == "absent"
