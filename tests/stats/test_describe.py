"""Descriptions hold every figure about one metric over the runs, or the reason why there is none."""

import math
import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
from samples import experiment, metric, run, sample

from deviate.model.comparisons import Description
from deviate.model.estimates import NOT_ASKED, Interval, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import EvaluationData
from deviate.stats.describe import describe, describe_runs
from deviate.stats.estimates.bootstrap import Resamples

CROSS_CHECKS = ("mean_bootstrap", "mean_percentile", "sd_bootstrap", "median_bootstrap")
ACCURACIES = [0.9341, 0.9352, 0.9337, 0.9346, 0.9333, 0.9358, 0.9349, 0.9340, 0.9344, 0.9351]


def test_a_description_holds_every_figure() -> None:
    found = describe(ACCURACIES, name="test_acc", rng=np.random.default_rng(0))
    absent = {it.name for it in fields(Description) if isinstance(getattr(found, it.name), Unavailable)}
    assert absent == {"sampling_se", "attainment"}
    assert found.se == pytest.approx(np.std(ACCURACIES, ddof=1) / math.sqrt(10))
    assert found.quartiles == pytest.approx(tuple(np.percentile(ACCURACIES, [25, 75])))
    assert found.sampling_se == Unavailable(Reason.EXAMPLES_UNKNOWN)
    assert found.tails == ""
    assert found.outliers == ()


def test_without_a_generator_nothing_is_resampled() -> None:
    found = describe(ACCURACIES)
    assert all(getattr(found, name) is NOT_ASKED for name in CROSS_CHECKS)


def test_cross_checks_say_by_their_method_what_they_are() -> None:
    found = describe(ACCURACIES, rng=np.random.default_rng(0))
    methods = [getattr(found, name).method for name in CROSS_CHECKS]
    assert methods == ["BCa bootstrap", "percentile bootstrap", "BCa bootstrap", "percentile bootstrap"]


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.5],
        [0.5, 0.75],
        [0.5] * 12,
        [math.nan] * 3,
        [0.5, math.inf, 0.7, 0.6, 0.8, 0.9],
        list(range(12)),
        [1e9 + 1e-6 * k for k in range(12)],
        [0.0] * 11 + [1.0],
        [1e151] * 12,
    ],
    ids=str,
)
def test_degenerate_scores_give_numbers_or_reasons(values: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = describe(values, name="test_acc", rng=np.random.default_rng(0))
    for name in (it.name for it in fields(Description)):
        value = getattr(found, name)
        if isinstance(value, Unavailable):
            assert value.reason
        if isinstance(value, float):
            assert math.isfinite(value)
        if isinstance(value, Interval):
            assert value.low < value.high


def test_one_run_and_none_have_the_reasons_of_the_contract() -> None:
    one, none = describe([0.5]), describe([])
    for name in ("se", "cv_interval", "iqr", "mad", "skewness", "kurtosis"):
        assert getattr(one, name) == Unavailable(Reason.SINGLE_RUN)
        assert getattr(none, name) == Unavailable(Reason.NO_SCORE)


def test_outliers_are_named_by_replicate_though_runs_before_them_failed() -> None:
    accuracy = metric("test_acc")
    runs = [run(0, {"test_acc": [0.5]}, status="crashed")]
    runs += [
        run(i, {"test_acc": [value]}) for i, value in enumerate([0.91, 0.92, 0.93, 0.20, 0.925, 0.915, 0.922, 0.918], 1)
    ]
    found = describe_runs(experiment("base", [accuracy], {}, runs=runs), accuracy)
    assert found.outliers == (4,)
    assert found.tails.startswith("heavy tails (excess kurtosis")


def test_examples_that_the_runs_were_seen_to_evaluate_give_the_sampling_error() -> None:
    accuracy = metric("test_acc")
    runs = [
        replace(run(i, {"test_acc": [value]}), evaluation=(EvaluationData("torch", "5f1c", 10_000),))
        for i, value in enumerate(ACCURACIES)
    ]
    found = describe_runs(experiment("base", [accuracy], {}, runs=runs), accuracy)
    assert found.n_examples == 10_000
    assert found.sampling_se == pytest.approx(math.sqrt(0.93451 * 0.06549 / 10_000))


def test_metrics_of_an_experiment_share_resamples_so_that_none_depends_on_the_others() -> None:
    metrics = [metric("a"), metric("b")]
    both = experiment("base", metrics, {"a": sample(5.0, 1.0, 12), "b": ACCURACIES})
    resamples = Resamples(np.random.default_rng(0))
    first, second = (describe_runs(both, it, rng=resamples) for it in metrics)
    alone = describe_runs(both, metrics[1], rng=Resamples(np.random.default_rng(0)))
    assert second == alone
    assert first.mean_bootstrap != second.mean_bootstrap
