"""Time per step and to convergence: the exact case of the relative range, every criterion, and what has no times."""

import dataclasses
from collections.abc import Sequence

import pytest
from experiments import experiment, run, selected

from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Experiment, Series
from deviate.model.stability import Convergence
from deviate.stability.measures.convergence import convergence
from deviate.stats.estimates.one_sample import relative_range

UNTIMED = Unavailable(Reason.NO_TIMES)


def curve(values: Sequence[float], seconds: float = 1.0, start: float = 10.0, every: int = 1) -> Series:
    """Values at every so many steps, which take so many seconds each."""
    steps = tuple(every * (at + 1) - 1 for at in range(len(values)))
    return Series(steps, tuple(values), tuple(start + seconds * (step + 1) for step in steps))


def trained(*curves: Series, name: str = "val_acc", direction: str | None = "max") -> Experiment:
    runs = [run(at, {name: one}) for at, one in enumerate(curves)]
    return experiment(runs=runs, metrics=[selected(name, direction=direction)])  # type: ignore[arg-type]


def told(it: Experiment, metric: str | None = None) -> Convergence:
    found = convergence(it, 0, metric=metric)
    assert found is not None
    return found


def steps_of(found: Convergence) -> dict[str, tuple[int | None, ...]]:
    return {row.criterion: row.steps for row in found.rows}


def test_times_of_100_120_and_150_seconds_differ_by_half_of_the_fastest() -> None:
    assert relative_range([100.0, 120.0, 150.0]) == pytest.approx(0.5)
    found = told(trained(*(curve([0.1, 0.2], seconds / 2, start=0.0) for seconds in (100.0, 120.0, 150.0))))
    last = found.rows[0]
    assert (last.criterion, last.seconds, last.steps) == ("last step", (100.0, 120.0, 150.0), (2, 2, 2))
    assert last.seconds_relative_range == pytest.approx(0.5)
    assert last.seconds_range == 50.0
    assert last.seconds_mean == pytest.approx(123.3333, abs=1e-4)
    assert last.steps_relative_range == 0.0
    assert found.step_seconds == pytest.approx((50.0, 60.0, 75.0))
    assert found.step_seconds_relative_range == pytest.approx(0.5)


def test_each_criterion_finds_its_step() -> None:
    values = [0.1, 0.5, 0.895, 0.897, 0.90, 0.89, 0.899, 0.88, 0.895, 0.9, 0.87, 0.905]
    found = told(trained(curve(values), curve(values[:6])))
    assert steps_of(found) == {
        "last step": (12, 6),
        "best val_acc": (12, 5),
        "within 1% of the best val_acc": (4, 3),
        "val_acc not better for 5 values": (5, None),
    }
    stopped = found.rows[-1]
    assert stopped.seconds == (15.0, None)
    assert stopped.seconds_range == Unavailable(Reason.SINGLE_RUN)


def test_less_is_better_where_the_metric_says_so_and_steps_between_reports_count() -> None:
    found = told(trained(curve([3.0, 1.0, 1.005, 2.0], every=10), name="val_loss", direction="min"))
    assert steps_of(found)["best val_loss"] == (20,)
    assert steps_of(found)["within 1% of the best val_loss"] == (20,)
    assert found.step_seconds == pytest.approx((1.0,))


def test_a_loss_beside_the_metric_has_its_own_best() -> None:
    runs = [run(0, {"acc": curve([0.1, 0.2, 0.3]), "train_loss": curve([3, 2, 1]), "val_loss": curve([2, 1, 3])})]
    metrics = [selected("train_loss", direction="min"), selected("val_loss", direction="min"), selected("acc")]
    it = experiment(runs=runs, metrics=metrics)
    assert steps_of(told(it, "acc"))["best val_loss"] == (2,)
    assert told(it, "acc").metric == "acc"
    assert [row.criterion for row in told(it, "val_loss").rows].count("best val_loss") == 1


def test_values_that_are_not_finite_are_never_the_best() -> None:
    nan, inf = float("nan"), float("inf")
    found = told(trained(curve([nan, 0.5, inf, 0.4]), curve([nan, nan])))
    assert steps_of(found)["best val_acc"] == (2, None)
    assert steps_of(found)["within 1% of the best val_acc"] == (2, None)
    assert told(trained(curve([nan, nan]))).rows[1].seconds_mean == Unavailable("no run converged")


def test_without_times_steps_are_told_and_without_direction_times() -> None:
    untimed = trained(Series((0, 1), (0.1, 0.2)))
    found = told(untimed)
    assert (found.step_seconds, found.step_seconds_mean) == ((), UNTIMED)
    assert steps_of(found)["best val_acc"] == (2,)
    assert found.rows[0].seconds_mean == UNTIMED
    undirected = told(trained(curve([1.0, 2.0]), name="norm", direction=None))
    assert (undirected.metric, [row.criterion for row in undirected.rows]) == ("norm", ["last step"])


def test_metrics_of_the_end_alone_and_runs_that_failed_have_no_convergence() -> None:
    assert convergence(trained(Series((None,), (0.5,), (3.0,))), 0) is None
    assert convergence(trained(Series((0,), (0.5,), (3.0,))), 0) is None
    failed = dataclasses.replace(run(1, {"val_acc": curve([0.1])}), status="crashed")
    both = experiment(runs=[run(0, {"val_acc": curve([0.1, 0.2])}), failed], metrics=[selected("val_acc")])
    assert told(both).replicates == (0,)
    assert convergence(experiment(runs=[failed], metrics=[selected("val_acc")]), 0) is None


def test_the_score_that_a_criterion_selects_is_the_metrics_at_its_step() -> None:
    runs = [run(0, {"acc": curve([0.1, 0.4, 0.3]), "val_loss": curve([2.0, 3.0, 1.0])})]
    found = told(experiment(runs=runs, metrics=[selected("val_loss", direction="min"), selected("acc")]), "acc")
    scores = {row.criterion: row.scores for row in found.rows}
    assert (scores["last step"], scores["best acc"], scores["best val_loss"]) == ((0.3,), (0.4,), (0.3,))
    assert scores["acc not better for 5 values"] == (None,)
