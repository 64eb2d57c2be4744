"""Stability of predictions and weights as CSV rows: per measure, per class and run, per sub-group, per pair."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.stability import (
    Convergence,
    GroupMeasure,
    GroupStability,
    Measure,
    SetStability,
    StabilityFindings,
    WeightStability,
)
from deviate.report.data.tables import plain_text
from deviate.stability.report.classes import RATES

Value = str | int | float | None
Figure = tuple[str, str, str, Estimate, Interval | Unavailable]
"""Part, item, measure, value and interval."""
NONE = Unavailable("none")
INTERVAL = ("low", "high", "confidence", "method")
CLASS_MEASURES = {"mean": "mean", "range": "range", "sd": "sd", "sd-ratio": "ratio", "sampling-sd": "sampling_sd"}
"""Measures of the accuracy of a class, with their fields."""


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A file beside the page: what its rows are, whether there are any, and the rows, heads first."""

    description: str
    has_rows: Callable[[StabilityFindings], bool]
    rows: Callable[[Findings], Iterator[list[Value]]]


def csv_tables(findings: Findings) -> dict[str, CsvTable]:
    """The files that have content, in the order of `CSV_TABLES`."""
    return {name: table for name, table in CSV_TABLES.items() if table.has_rows(findings.stability)}


def figure_rows(findings: Findings) -> Iterator[list[Value]]:
    """Every measure in long form; `set` is empty for measures that do not belong to an evaluation set."""
    yield ["experiment", "variant", "set", "part", "item", "measure", "value", *INTERVAL]
    for index, name, (part, item, measure, value, interval) in _figures(findings):
        yield [*_leading_cells(findings, index, name), part, item, measure, _number(value), *_ends(interval)]


def class_rows(findings: Findings) -> Iterator[list[Value]]:
    yield ["experiment", "variant", "set", "class", "n_examples", "replicate", "accuracy"]
    for captured in findings.stability.sets:
        begin = _leading_cells(findings, captured.experiment, captured.name)
        for one in captured.classes:
            for replicate, accuracy in zip(captured.replicates, one.accuracies, strict=True):
                yield [*begin, one.label, one.n_examples, replicate, accuracy]


def group_rows(findings: Findings) -> Iterator[list[Value]]:
    """SDs have ddof 1; ratios are to the SD of all examples, whose column is empty and whose value is All."""
    composition = ("n_examples", "n_positive", "n_negative", "share")
    of_rates = ("mean", "sd", "ratio", *(f"ratio_{part}" for part in INTERVAL))
    heads = [f"{rate.field}_{head}" for rate in RATES for head in of_rates]
    yield ["experiment", "variant", "set", "column", "value", *composition, *heads]
    for captured in findings.stability.sets:
        begin = _leading_cells(findings, captured.experiment, captured.name)
        for group in captured.groups:
            sizes = [getattr(group, name) for name in composition]
            yield [*begin, plain_text(group.column), plain_text(group.value), *sizes, *_rates(group)]


def pair_rows(findings: Findings) -> Iterator[list[Value]]:
    yield ["experiment", "variant", "set", "measure", "replicate", "other", "value"]
    stability = findings.stability
    matrices = [(one.experiment, one.name, "churn", one.replicates, one.disagreement) for one in stability.sets]
    matrices += [(one.experiment, "", "weight-distance", one.replicates, one.distances) for one in stability.weights]
    for index, set_name, measure, replicates, matrix in matrices:
        begin = [*_leading_cells(findings, index, set_name), measure]
        for i, j in itertools.combinations(range(len(matrix)), 2):
            yield [*begin, replicates[i], replicates[j], matrix[i][j]]


def _figures(findings: Findings) -> Iterator[tuple[int, str, Figure]]:
    """Measures with the index of the experiment, and the name of the evaluation set if there is one."""
    for captured in findings.stability.sets:
        yield from ((captured.experiment, captured.name, figure) for figure in _set_figures(captured))
    for weights in findings.stability.weights:
        yield from ((weights.experiment, "", figure) for figure in _weight_figures(weights))
    for convergence in findings.stability.convergence:
        yield from ((convergence.experiment, "", figure) for figure in _convergence_figures(convergence))
    for weak in findings.stability.weak:
        item = f"{plain_text(weak.metric)}, {plain_text(weak.rule)}"
        for measure in ("range_all", "range_kept", "sd_all", "sd_kept"):
            yield weak.experiment, "", ("weak", item, measure.replace("_", "-"), getattr(weak, measure), NONE)
    for one in findings.stability.differences:
        yield one.experiment, one.set_name, _figure("difference", "", one.difference)


def _set_figures(captured: SetStability) -> Iterator[Figure]:
    yield from (_figure("set", "", one) for one in captured.measures)
    yield "set", "", "mean-accuracy-sampling-sd", captured.mean_accuracy_sampling_sd, NONE
    for measure, scores in (("accuracy", captured.accuracies), ("cross-entropy", captured.cross_entropies)):
        for replicate, score in zip(captured.replicates, scores, strict=False):
            yield "run", str(replicate), measure, score, NONE
    for one in captured.classes:
        for measure, name in CLASS_MEASURES.items():
            interval = one.sd_interval if name == "sd" else NONE
            yield "class", str(one.label), f"accuracy-{measure}", getattr(one, name), interval
    if captured.classes:
        yield "classes", "", "expected-largest-sd", captured.expected_largest_sd, NONE
        yield "classes", "", "expected-largest-range", captured.expected_largest_range, NONE
    for unstable in captured.unstable:
        yield "example", str(unstable.position), "flip-rate", unstable.flip_rate, NONE
    for step in captured.steps:
        yield from (_figure("step", str(step.step), measure) for measure in (step.churn, step.weight_distance))
    for reduction in captured.reductions:
        yield from (_figure("ensemble", plain_text(reduction.name), measure) for measure in reduction.measures)
        yield "ensemble", plain_text(reduction.name), "reduction", reduction.reduction, reduction.reduction_interval


def _weight_figures(weights: WeightStability) -> Iterator[Figure]:
    yield _figure("weights", "", weights.distance)
    yield from (_figure("layer", plain_text(layer.name), layer.distance) for layer in weights.layers)
    yield from (_figure("step", str(step), measure) for step, measure in weights.steps)


def _convergence_figures(convergence: Convergence) -> Iterator[Figure]:
    yield "convergence", "", "step-seconds-mean", convergence.step_seconds_mean, NONE
    yield "convergence", "", "step-seconds-sd", convergence.step_seconds_sd, NONE
    for replicate, seconds_per_step in zip(convergence.replicates, convergence.step_seconds, strict=False):
        yield "convergence", f"replicate {replicate}", "step-seconds", seconds_per_step, NONE
    for row in convergence.rows:
        for replicate, steps, seconds in zip(convergence.replicates, row.steps, row.seconds, strict=True):
            item = f"{plain_text(row.criterion)}, replicate {replicate}"
            yield "convergence", item, "steps", NONE if steps is None else steps, NONE
            yield "convergence", item, "seconds", NONE if seconds is None else seconds, NONE


def _figure(part: str, item: str, measure: Measure) -> Figure:
    return part, item, measure.name, measure.value, measure.interval


def _rates(group: GroupStability) -> Iterator[Value]:
    for rate in RATES:
        measure = rate.of(group)
        if isinstance(measure, GroupMeasure):
            yield from map(_number, (measure.mean, measure.sd, measure.ratio))
            yield from _ends(measure.ratio_interval)
        else:
            yield from (None,) * (3 + len(INTERVAL))


def _number(value: Estimate) -> Value:
    return None if isinstance(value, Unavailable) else value


def _ends(interval: Interval | Unavailable) -> list[Value]:
    if isinstance(interval, Unavailable):
        return [None] * len(INTERVAL)
    return [interval.low, interval.high, interval.confidence, plain_text(interval.method)]


def _leading_cells(findings: Findings, index: int, set_name: str = "") -> list[Value]:
    """The first cells of a row: experiment, variant and evaluation set."""
    experiment = findings.experiments[index].experiment
    return [plain_text(text) for text in (experiment.name, experiment.variant, set_name)]


CSV_TABLES: dict[str, CsvTable] = {
    "stability.csv": CsvTable(
        "one row per measure of predictions, classes, weights and convergence",
        lambda stability: bool(stability.sets or stability.weights or stability.convergence or stability.weak),
        figure_rows,
    ),
    "classes.csv": CsvTable(
        "one row per class and run: accuracy",
        lambda stability: any(evaluation_set.classes for evaluation_set in stability.sets),
        class_rows,
    ),
    "groups.csv": CsvTable(
        "one row per sub-group: composition, accuracy and error rates over runs",
        lambda stability: any(evaluation_set.groups for evaluation_set in stability.sets),
        group_rows,
    ),
    "disagreement.csv": CsvTable(
        "one row per pair of runs: share of examples on which they disagree, or distance of weights",
        lambda stability: (
            any(evaluation_set.disagreement for evaluation_set in stability.sets)
            or any(weights.distances for weights in stability.weights)
        ),
        pair_rows,
    ),
}
