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
    described = [
        (point, findings, index, item.experiment, one)
        for point, findings in judged
        for index, item in enumerate(findings.experiments)
        for one in item.descriptions
        if one.metric.name == metric
    ]
    questions = (findings.basis.question for _, findings in judged if metric is None)
    return SweepFindings(
        name=first.sweep,
        argument=first.argument,
        values=values,
        scale=_scale(values),
        metric=metric or "",
        unit=next((one.metric.unit for *_, one in described if one.metric.unit), ""),
        confidence=confidence,
        command=of_first.experiments[0].experiment.command if of_first.experiments else (),
        rows=tuple(_row(*one) for one in described),
        question=next(filter(None, questions), None),
    )


def _row(point: SweptValue, findings: Findings, index: int, experiment: Experiment, described: Description) -> SweepRow:
    measures = [
        SweepMeasure(captured.name, one)
        for captured in findings.stability.sets
        if captured.experiment == index and "+" not in captured.name
        for one in captured.measures
        if one.name in SHOWN
    ]
    measures += [SweepMeasure("", one.distance) for one in findings.stability.weights if one.experiment == index]
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
