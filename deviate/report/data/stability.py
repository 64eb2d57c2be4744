"""What predictions and weights tell as rows for CSV: a row per figure, per class and run, per sub-group, per pair."""

import itertools
from collections.abc import Iterator, Sequence

from deviate.model import (
    Estimate,
    Experiment,
    Findings,
    GroupMeasure,
    GroupStability,
    Interval,
    Measure,
    SetStability,
    Unavailable,
)
from deviate.report.data.scores import plain_text

Value = str | int | float | None
Figure = tuple[str, str, str, Estimate, Interval | Unavailable]
"""Part, item within it, measure, value and interval."""
NONE = Unavailable("none")
INTERVAL = ("low", "high", "confidence", "method")
RATES = ("accuracy", "false_positive_rate", "false_negative_rate")
FILES = {
    "stability.csv": "a row per figure on predictions, classes, weights and convergence",
    "classes.csv": "a row per class and run: its accuracy",
    "groups.csv": "a row per sub-group: composition, accuracy and error rates over runs",
    "disagreement.csv": "a row per pair of runs: share of examples on which they disagree, or distance of weights",
}


def stability_files(findings: Findings) -> tuple[str, ...]:
    """Names of the files for which there is something, in the order of `FILES`."""
    stability = findings.stability
    files = {
        "stability.csv": bool(stability.sets or stability.weights or stability.convergence or stability.weak),
        "classes.csv": any(one.classes for one in stability.sets),
        "groups.csv": any(one.groups for one in stability.sets),
        "disagreement.csv": any(one.disagreement for one in stability.sets)
        or any(one.distances for one in stability.weights),
    }
    return tuple(name for name in FILES if files[name])


def figure_rows(findings: Findings) -> Iterator[list[Value]]:
    """Every figure in long form; `set` is empty for what is not of an evaluation set."""
    yield ["experiment", "variant", "set", "part", "item", "measure", "value", *INTERVAL]
    for set_stability in findings.stability.sets:
        begin = [*_name_experiment(findings, set_stability.experiment), plain_text(set_stability.name)]
        yield from ([*begin, *_cells(figure)] for figure in _of_set(set_stability))
    for index, figure in _elsewhere(findings):
        yield [*_name_experiment(findings, index), "", *_cells(figure)]
    for one in findings.stability.differences:
        figure = ("difference", "", one.difference.name, one.difference.value, one.difference.interval)
        yield [*_name_experiment(findings, one.experiment), plain_text(one.set_name), *_cells(figure)]


def class_rows(findings: Findings) -> Iterator[list[Value]]:
    yield ["experiment", "variant", "set", "class", "n_examples", "replicate", "accuracy"]
    for set_stability in findings.stability.sets:
        begin = [*_name_experiment(findings, set_stability.experiment), plain_text(set_stability.name)]
        for one in set_stability.classes:
            for replicate, accuracy in zip(set_stability.replicates, one.accuracies, strict=True):
                yield [*begin, one.label, one.n_examples, replicate, accuracy]


def group_rows(findings: Findings) -> Iterator[list[Value]]:
    """SDs have ddof 1; ratios are to the SD of all examples, whose column is empty and whose value is All."""
    heads = [
        f"{rate}_{head}" for rate in RATES for head in ("mean", "sd", "ratio", *(f"ratio_{part}" for part in INTERVAL))
    ]
    yield [
        *("experiment", "variant", "set", "column", "value", "n_examples", "n_positive", "n_negative", "share"),
        *heads,
    ]
    for set_stability in findings.stability.sets:
        begin = [*_name_experiment(findings, set_stability.experiment), plain_text(set_stability.name)]
        for group in set_stability.groups:
            composition = [group.n_examples, group.n_positive, group.n_negative, group.share]
            yield [*begin, plain_text(group.column), plain_text(group.value), *composition, *_rates(group)]


def pair_rows(findings: Findings) -> Iterator[list[Value]]:
    yield ["experiment", "variant", "set", "measure", "replicate", "other", "value"]
    for set_stability in findings.stability.sets:
        begin = [*_name_experiment(findings, set_stability.experiment), plain_text(set_stability.name), "churn"]
        yield from ([*begin, *row] for row in _pairs(set_stability.disagreement, set_stability.replicates))
    for weight_stability in findings.stability.weights:
        begin = [*_name_experiment(findings, weight_stability.experiment), "", "weight-distance"]
        yield from ([*begin, *row] for row in _pairs(weight_stability.distances, weight_stability.replicates))


def _of_set(set_stability: SetStability) -> Iterator[Figure]:
    yield from (_figure("set", "", one) for one in set_stability.measures)
    yield "set", "", "mean-accuracy-sampling-sd", set_stability.mean_accuracy_sampling_sd, NONE
    for replicate, accuracy in zip(set_stability.replicates, set_stability.accuracies, strict=False):
        yield "run", str(replicate), "accuracy", accuracy, NONE
    for replicate, entropy in zip(set_stability.replicates, set_stability.cross_entropies, strict=False):
        yield "run", str(replicate), "cross-entropy", entropy, NONE
    for one in set_stability.classes:
        yield "class", str(one.label), "accuracy-mean", one.mean, NONE
        yield "class", str(one.label), "accuracy-range", one.range, NONE
        yield "class", str(one.label), "accuracy-sd", one.sd, one.sd_interval
        yield "class", str(one.label), "accuracy-sd-ratio", one.ratio, NONE
        yield "class", str(one.label), "accuracy-sampling-sd", one.sampling_sd, NONE
    if set_stability.classes:
        yield "classes", "", "expected-largest-sd", set_stability.expected_largest_sd, NONE
        yield "classes", "", "expected-largest-range", set_stability.expected_largest_range, NONE
    for unstable in set_stability.unstable:
        yield "example", str(unstable.position), "flip-rate", unstable.flip_rate, NONE
    for step in set_stability.steps:
        yield from (_figure("step", str(step.step), measure) for measure in (step.churn, step.weight_distance))
    for reduction in set_stability.reductions:
        yield from (_figure("ensemble", plain_text(reduction.name), measure) for measure in reduction.measures)
        yield "ensemble", plain_text(reduction.name), "reduction", reduction.reduction, reduction.reduction_interval


def _elsewhere(findings: Findings) -> Iterator[tuple[int, Figure]]:
    """Weights, convergence and weak models, with the index of the experiment."""
    for weight_stability in findings.stability.weights:
        yield weight_stability.experiment, _figure("weights", "", weight_stability.distance)
        yield from (
            (weight_stability.experiment, _figure("layer", plain_text(layer.name), layer.distance))
            for layer in weight_stability.layers
        )
        yield from (
            (weight_stability.experiment, _figure("step", str(step), measure))
            for step, measure in weight_stability.steps
        )
    for convergence in findings.stability.convergence:
        yield convergence.experiment, ("convergence", "", "step-seconds-mean", convergence.step_seconds_mean, NONE)
        yield convergence.experiment, ("convergence", "", "step-seconds-sd", convergence.step_seconds_sd, NONE)
        for replicate, seconds_per_step in zip(convergence.replicates, convergence.step_seconds, strict=False):
            yield (
                convergence.experiment,
                ("convergence", f"replicate {replicate}", "step-seconds", seconds_per_step, NONE),
            )
        for row in convergence.rows:
            for replicate, steps, seconds in zip(convergence.replicates, row.steps, row.seconds, strict=True):
                item = f"{plain_text(row.criterion)}, replicate {replicate}"
                yield convergence.experiment, ("convergence", item, "steps", _estimate_or_none(steps), NONE)
                yield convergence.experiment, ("convergence", item, "seconds", _estimate_or_none(seconds), NONE)
    for weak in findings.stability.weak:
        item = f"{plain_text(weak.metric)}, {plain_text(weak.rule)}"
        for measure in ("range_all", "range_kept", "sd_all", "sd_kept"):
            yield weak.experiment, ("weak", item, measure.replace("_", "-"), getattr(weak, measure), NONE)


def _estimate_or_none(value: float | None) -> Estimate:
    return NONE if value is None else value


def _figure(part: str, item: str, measure: Measure) -> Figure:
    return part, item, measure.name, measure.value, measure.interval


def _cells(figure: Figure) -> list[Value]:
    part, item, measure, value, interval = figure
    return [part, item, measure, *_number(value), *_ends(interval)]


def _rates(group: GroupStability) -> Iterator[Value]:
    for rate in RATES:
        measure = getattr(group, rate)
        if isinstance(measure, GroupMeasure):
            for value in (measure.mean, measure.sd, measure.ratio):
                yield from _number(value)
            yield from _ends(measure.ratio_interval)
        else:
            yield from (None,) * (3 + len(INTERVAL))


def _number(value: Estimate) -> list[Value]:
    return [None if isinstance(value, Unavailable) else value]


def _ends(interval: Interval | Unavailable) -> list[Value]:
    if isinstance(interval, Unavailable):
        return [None] * len(INTERVAL)
    return [interval.low, interval.high, interval.confidence, plain_text(interval.method)]


def _pairs(matrix: Sequence[Sequence[float]], replicates: Sequence[int]) -> Iterator[list[Value]]:
    for i, j in itertools.combinations(range(len(matrix)), 2):
        yield [replicates[i], replicates[j], matrix[i][j]]


def _name_experiment(findings: Findings, index: int) -> list[Value]:
    experiment: Experiment = findings.experiments[index].experiment
    return [plain_text(experiment.name), plain_text(experiment.variant)]
