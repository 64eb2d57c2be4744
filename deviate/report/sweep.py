"""The scores of a sweep against the values of its argument."""

from collections.abc import Sequence

from deviate.model.comparisons import Description
from deviate.model.findings import Findings
from deviate.model.plan import SweptValue
from deviate.model.records import Experiment
from deviate.model.sweep import Scale, SweepFindings, SweepMeasure, SweepRow, number_of

LEAST_RATIO = 8.0
"""Minimum ratio of the largest to the smallest positive value for a logarithmic axis."""
SHOWN = ("churn",)
"""Measures of evaluation sets that are drawn against the argument."""


def judge_sweep(judged: Sequence[tuple[SweptValue, Findings]], *, confidence: float) -> SweepFindings:
    """The measures of every value, each of which was judged as a separate experiment.

    Args:
        judged: each value with the findings on the variants of its experiment.
    """
    first, of_first = judged[0]
    values = tuple(dict.fromkeys(point.value for point, _ in judged))
    metric = next((findings.primary for _, findings in judged if findings.primary is not None), None)
    rows: list[SweepRow] = []
    unit = ""
    for point, findings in judged:
        for index, item in enumerate(findings.experiments):
            described = next((one for one in item.descriptions if one.metric.name == metric), None)
            if described is not None:
                rows.append(_row(point, findings, index, item.experiment, described))
                unit = unit or described.metric.unit
    return SweepFindings(
        name=first.sweep,
        argument=first.argument,
        values=values,
        scale=_scale(values),
        metric=metric or "",
        unit=unit,
        confidence=confidence,
        command=of_first.experiments[0].experiment.command if of_first.experiments else (),
        rows=tuple(rows),
        question=None
        if metric
        else next((one.basis.question for _, one in judged if one.basis.question is not None), None),
    )


def _row(point: SweptValue, findings: Findings, index: int, experiment: Experiment, described: Description) -> SweepRow:
    sets = [
        evaluation_set
        for evaluation_set in findings.stability.sets
        if evaluation_set.experiment == index and "+" not in evaluation_set.name
    ]
    measures = [
        SweepMeasure(evaluation_set.name, one)
        for evaluation_set in sets
        for one in evaluation_set.measures
        if one.name in SHOWN
    ]
    measures += [
        SweepMeasure("", weight.distance) for weight in findings.stability.weights if weight.experiment == index
    ]
    return SweepRow(
        value=point.value,
        experiment=experiment.name,
        variant=experiment.variant,
        n_runs=described.n_runs,
        scores=tuple(score.value for score in described.scores),
        mean=described.mean,
        mean_interval=described.mean_interval,
        sd=described.sd,
        sd_interval=described.sd_interval,
        measures=tuple(measures),
    )


def _scale(values: Sequence[str]) -> Scale:
    numbers = [number_of(value) for value in values]
    positions = [number for number in numbers if number is not None]
    if len(positions) < len(numbers):
        return "names"
    return "log" if min(positions) > 0 and max(positions) / min(positions) >= LEAST_RATIO else "linear"
