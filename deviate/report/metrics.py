"""Metrics as text: per metric its row in the overview, its tables, and the data of its figures."""

from collections.abc import Sequence

from deviate.model import Comparison, Description, Findings, Interval, Run, SelectedMetric, Series, Unavailable
from deviate.report.compare import (
    difference_cell,
    metric_name,
    overview_comparison,
    places_of_difference,
    verdict_word,
)
from deviate.report.describe import cell_of, description_headers, description_row, mean_cell, n_text, unit_of
from deviate.report.format import clean, confidence_text, difference_unit, name_text, percentage, shorten, with_unit
from deviate.report.quantities import quantity_rows
from deviate.report.shape import shape_rows
from deviate.report.view import (
    Cell,
    CurveGroup,
    CurvePlot,
    EstimationPlot,
    MetricView,
    PlottedDifference,
    PointGroup,
)

DIRECTIONS = {"max": "higher is better", "min": "lower is better", None: "direction unknown"}
AGGREGATES = {
    "last": "last value of each run",
    "best": "best value of each run",
    "mean": "mean over the steps of each run",
    "median": "median over the steps of each run",
    "min": "lowest value of each run",
    "max": "highest value of each run",
}


def aggregate_words(aggregate: str) -> str:
    name, _, step = aggregate.partition(":")
    return f"value at main-loop step {clean(step)} of each run" if step else AGGREGATES.get(name, name_text(name))


def metric_views(findings: Findings, labels: Sequence[str]) -> tuple[MetricView, ...]:
    """One view per metric: those of the baseline in its order, then those that only a candidate reports."""
    rows = matched_rows(findings)
    return tuple(_metric_view(findings, labels, index, row) for index, row in enumerate(rows))


def matched_rows(findings: Findings) -> list[list[Description | None]]:
    """Per metric the description of each experiment; metrics that were matched share a row."""
    baseline, *candidates = findings.experiments
    rows: list[list[Description | None]] = []
    taken: list[set[str]] = [set() for _ in candidates]
    for description in baseline.descriptions:
        row: list[Description | None] = [description]
        for index, candidate in enumerate(candidates):
            name = _name_in(findings, index, description.metric.name)
            found = next((it for it in candidate.descriptions if it.metric.name == name), None)
            if found is not None:
                taken[index].add(found.metric.name)
            row.append(found)
        rows.append(row)
    extra = dict.fromkeys(
        it.metric.name
        for index, candidate in enumerate(candidates)
        for it in candidate.descriptions
        if it.metric.name not in taken[index]
    )
    for name in extra:
        row = [None]
        for index, candidate in enumerate(candidates):
            found = next((it for it in candidate.descriptions if it.metric.name == name), None)
            row.append(found if found is not None and name not in taken[index] else None)
        rows.append(row)
    return rows


def _name_in(findings: Findings, pair: int, baseline_name: str) -> str:
    comparison = comparison_of(findings, pair, baseline_name)
    return baseline_name if comparison is None else comparison.candidate_metric.name


def comparison_of(findings: Findings, pair: int, baseline_name: str) -> Comparison | None:
    if pair >= len(findings.pairs):
        return None
    return next((it for it in findings.pairs[pair].comparisons if it.metric.name == baseline_name), None)


def _metric_view(
    findings: Findings, labels: Sequence[str], index: int, row: Sequence[Description | None]
) -> MetricView:
    described = [(it, label) for it, label in zip(row, labels, strict=True) if it is not None]
    first = described[0][0]
    comparisons = tuple(
        None if row[0] is None else comparison_of(findings, pair, first.metric.name)
        for pair in range(len(findings.pairs))
    )
    name = next((metric_name(it) for it in comparisons if it is not None), name_text(first.metric.name))
    absent = tuple(f"not reported by {label}" for label in labels[1 : len(comparisons) + 1])
    compared = [it for it in comparisons if it is not None]
    estimation = _estimation(f"m{index}", name, row, labels, comparisons)
    curve = _curve(f"m{index}", name, findings, row, labels)
    return MetricView(
        anchor=f"metric-{index}",
        name=name,
        is_primary=first.metric.name == findings.primary,
        facts=_facts(first.metric, is_primary=first.metric.name == findings.primary),
        overview=tuple(_overview_cell(it, label) for it, label in zip(row, labels, strict=True)),
        overview_n=tuple("" if it is None else f"n = {n_text(it)}" for it in row),
        cv=cell_of(first.cv, percentage),
        overview_comparisons=tuple(None if it is None else overview_comparison(it) for it in comparisons),
        not_compared=tuple(reason if compared else "only one side reports this metric" for reason in absent),
        description_headers=description_headers(next((it for it, _ in described if it.n > 1), first)),
        descriptions=tuple(description_row(it, label) for it, label in described),
        shape_experiments=tuple(label for _, label in described),
        shape=shape_rows([it for it, _ in described]),
        quantities=quantity_rows(comparisons, absent) if compared else (),
        no_comparison="Not compared: only one side reports this metric." if findings.pairs and not compared else "",
        estimation=estimation,
        no_estimation="" if estimation else f"No points to draw: {first.note or 'no run gave a score'}.",
        curve=curve,
        no_curve="" if curve else "No curve: no run reported this metric at more than one step.",
    )


def _facts(metric: SelectedMetric, *, is_primary: bool) -> tuple[str, ...]:
    source = metric.metric
    facts = ["primary metric"] if is_primary else []
    facts += [f"unit {unit_of(metric)}"] if metric.unit else []
    facts += [DIRECTIONS[metric.direction], aggregate_words(metric.aggregate)]
    if metric.margin is not None:
        facts.append(f"margin {metric.margin:g}")
    if not source.line:  # of files that something else wrote, where no line reports it
        return tuple(facts)
    return (*facts, clean(f"{source.file}:{source.line}"), shorten(clean(source.expression), 80))


def _overview_cell(description: Description | None, label: str) -> Cell:
    if description is None:
        return Cell(f"not reported by {label}", is_reason=True)
    return mean_cell(description, unit_of(description.metric))


def _estimation(
    key: str,
    name: str,
    row: Sequence[Description | None],
    labels: Sequence[str],
    comparisons: Sequence[Comparison | None],
) -> EstimationPlot | None:
    described = [(it, label) for it, label in zip(row, labels, strict=True) if it is not None]
    place = {label: index for index, label in enumerate(labels)}
    if not any(it.scores for it, _ in described):
        return None
    unit = unit_of(described[0][0].metric)
    differences = tuple(
        _plotted(it, label) for it, label in zip(comparisons, labels[1:], strict=False) if it is not None
    )
    intervals = [it.difference_interval for it in comparisons if it is not None]
    # An axis has no room for the whole note, which stands in the tables.
    levels = dict.fromkeys(
        "CI not valid" if it.note else f"{confidence_text(it.confidence)} CI"
        for it in intervals
        if isinstance(it, Interval)
    )
    drawn = "; ".join(f"{label} {mean_cell(it, unit).text}, n = {n_text(it)}" for it, label in described)
    told = [
        f"difference {difference_cell(it, places_of_difference(it)).text}, verdict {verdict_word(it)}"
        for it in comparisons
        if it is not None
    ]
    return EstimationPlot(
        key=f"{key}e",
        title=name,
        description=f"Score of every run in {name}: {drawn}. {'; '.join(told)}".strip(),
        axis=with_unit(name, f"({unit})" if unit else ""),
        difference_axis=", ".join(filter(None, ("difference", difference_unit(unit), *levels))),
        groups=tuple(_points(it, label, place[label]) for it, label in described),
        differences=differences,
    )


def _points(description: Description, label: str, index: int) -> PointGroup:
    interval = description.mean_interval
    return PointGroup(
        index=index,
        label=label,
        note=f"n = {n_text(description)}",
        values=tuple(score.value for score in description.scores),
        mean=None if isinstance(description.mean, Unavailable) else description.mean,
        sd=None if isinstance(description.sd, Unavailable) else description.sd,
        low=interval.low if isinstance(interval, Interval) else None,
        high=interval.high if isinstance(interval, Interval) else None,
    )


def _plotted(comparison: Comparison, label: str) -> PlottedDifference:
    interval = comparison.difference_interval
    return PlottedDifference(
        label=label,
        estimate=None if isinstance(comparison.difference, Unavailable) else comparison.difference,
        low=interval.low if isinstance(interval, Interval) else None,
        high=interval.high if isinstance(interval, Interval) else None,
        pairs=_pairs(comparison) if comparison.is_paired else (),
    )


def _pairs(comparison: Comparison) -> tuple[tuple[int, int], ...]:
    """Places of scores that share their replicate."""
    place = {score.replicate: index for index, score in enumerate(comparison.candidate.scores)}
    return tuple(
        (index, place[score.replicate])
        for index, score in enumerate(comparison.baseline.scores)
        if score.replicate in place
    )


def _curve(
    key: str, name: str, findings: Findings, row: Sequence[Description | None], labels: Sequence[str]
) -> CurvePlot | None:
    groups: list[CurveGroup] = []
    for index, (description, item, label) in enumerate(zip(row, findings.experiments, labels, strict=True)):
        if description is None:
            continue
        metric = description.metric.name
        counted = {score.replicate for score in description.scores}
        found = [(run, run.series[metric]) for run in item.experiment.runs if _has_curve(run, metric)]
        groups.append(
            CurveGroup(
                index=index,
                label=label,
                counted=tuple(series for run, series in found if run.replicate in counted),
                failed=tuple(series for run, series in found if run.replicate not in counted),
            )
        )
    if not any(group.counted or group.failed for group in groups):
        return None
    unit = next(unit_of(it.metric) for it in row if it is not None)
    told = "; ".join(f"{group.label}: {len(group.counted) + len(group.failed)} runs" for group in groups)
    return CurvePlot(
        key=f"{key}c",
        title=name,
        description=f"{name} of every run over main-loop steps, with the mean and its pointwise band. {told}",
        axis=with_unit(name, f"({unit})" if unit else ""),
        confidence=findings.confidence,
        groups=tuple(groups),
    )


def _has_curve(run: Run, metric: str) -> bool:
    series: Series | None = run.series.get(metric)
    return series is not None and sum(step is not None for step in series.steps) > 1
