"""Spread with and without weak models: the rule in words, both figures, and bounds that no run passes."""

import dataclasses
import math

import pytest
from samples import experiment, metric, run

from deviate.errors import InputError
from deviate.model.estimates import Unavailable
from deviate.model.phrases import Reason
from deviate.stability.measures.convergence import weak_models


def test_both_figures_stand_beside_the_rule_and_the_runs_it_excludes() -> None:
    it = experiment("a", [metric("acc")], {"acc": [0.9, 0.1, 0.92, 0.94]})
    (found,) = weak_models([it], "acc", 0.5)
    assert (found.experiment, found.metric, found.rule, found.excluded) == (0, "acc", "acc below 0.5", (1,))
    assert found.range_all == pytest.approx(0.84)
    assert found.range_kept == pytest.approx(0.04)
    assert found.sd_kept == pytest.approx(0.02)
    assert found.sd_all == pytest.approx(math.sqrt((0.185**2 + 0.615**2 + 0.205**2 + 0.225**2) / 3))


def test_a_score_at_the_bound_is_kept_and_of_a_loss_the_high_ones_are_weak() -> None:
    it = experiment("a", [metric("loss", direction="min")], {"loss": [1.0, 2.0, 3.0]})
    (found,) = weak_models([it], "loss", 2.0)
    assert (found.rule, found.excluded) == ("loss above 2", (2,))


def test_failed_runs_are_not_weak_but_failed() -> None:
    it = experiment("a", [metric("acc")], {"acc": [0.9, 0.8]}, runs=[run(2, {"acc": [0.1]}, "diverged")])
    assert weak_models([it], "acc", 0.5)[0].excluded == ()


def test_what_is_left_may_be_too_little_for_a_spread() -> None:
    it = experiment("a", [metric("acc")], {"acc": [0.9, 0.1]})
    assert weak_models([it], "acc", 0.5)[0].sd_kept == Unavailable(Reason.SINGLE_RUN)
    assert weak_models([it], "acc", 2.0)[0].sd_kept == Unavailable(Reason.NO_RUN)


def test_experiments_without_the_metric_are_passed_over_and_an_unknown_one_is_refused() -> None:
    a = experiment("a", [metric("loss")], {"loss": [0.9, 0.1]})
    b = dataclasses.replace(a, name="b", metrics=(metric("acc"),))
    assert [it.experiment for it in weak_models([a, b], "acc", 0.5)] == [1]
    with pytest.raises(InputError, match="no metric 'acc_'"):
        weak_models([a, b], "acc_", 0.5)
    with pytest.raises(InputError, match="is not a number"):
        weak_models([a, b], "acc", math.nan)
