"""Values that are not finite before the end of a completed run are said beside its score."""

import dataclasses
import math

from samples import experiment, metric, run

from deviate.model.records import Experiment
from deviate.report.advice import warnings_of
from deviate.stats.describe import describe_runs
from deviate.stats.judge import judge

NAN, INFINITE = math.nan, math.inf
LOSS = metric("loss", direction="min")


def with_losses(*losses: list[float]) -> Experiment:
    one = experiment("base", [LOSS], {"loss": []})
    return dataclasses.replace(one, runs=tuple(run(index, {"loss": values}) for index, values in enumerate(losses)))


def test_a_run_that_was_nan_in_between_gives_its_score_with_a_note() -> None:
    described = describe_runs(with_losses([3.0, NAN, 1.0], [3.0, 2.0, 1.5], [NAN, 2.0, 1.2]), LOSS)
    assert [score.value for score in described.scores] == [1.0, 1.5, 1.2]
    assert "NaN first at steps 0 to 1 in 2 of 3 runs" in described.note


def test_findings_warn_of_it_once_per_metric() -> None:
    findings = judge([with_losses([3.0, INFINITE, 1.0], [3.0, 2.0, 1.5], [INFINITE, 2.0, 1.2])])
    (warning,) = [text for text in warnings_of(findings) if "finite at the end" in text]
    assert warning.startswith("base: loss was infinite first at steps 0 to 1 in 2 of 3 runs")


def test_a_sum_beyond_the_largest_float_is_no_value_that_is_infinite() -> None:
    assert "infinite" not in describe_runs(with_losses([1e308, 1e308, 1.0], [1.0, 1.0, 2.0]), LOSS).note
