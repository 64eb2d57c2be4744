"""Metrics as text: the row of each in the overview, and its tables."""

from collections.abc import Sequence

from deviate.model import Comparison, Description, Findings, SelectedMetric
from deviate.report.document import Absent, Figure, MetricPart, Table, quantities
from deviate.report.format import clean, name_text, shorten
from deviate.report.numbers import share
from deviate.report.parts.compare import judgement_of, metric_name
from deviate.report.parts.describe import cell_of, description_columns, description_row, mean_cell, n_text, unit_of
from deviate.report.parts.distribution import shape_rows
from deviate.report.parts.metric_plots import curve_plot, estimation_plot
from deviate.report.parts.quantities import quantity_rows

N_OPEN = 8
"""Metrics whose figures are open on a page; a page of thirty would hide the one that counts."""
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


def metric_parts(findings: Findings, labels: Sequence[str]) -> tuple[MetricPart, ...]:
    """One part per metric: metrics of the baseline in order, then metrics that only candidates report."""
    rows = matched_rows(findings)
    return tuple(_metric_part(findings, labels, index, row) for index, row in enumerate(rows))


def matched_rows(findings: Findings) -> list[list[Description | None]]:
    """Descriptions of each metric, one per experiment; matched metrics share a row."""
    baseline, *candidates = findings.experiments
    by_name = [{one.metric.name: one for one in candidate.descriptions} for candidate in candidates]
    rows: list[list[Description | None]] = []
    used_names: set[tuple[int, str]] = set()
    for description in baseline.descriptions:
        name = description.metric.name
        pairs = [comparison_of(findings, index, name) for index in range(len(candidates))]
        names = [name if pair is None else pair.candidate_metric.name for pair in pairs]
        used_names |= set(enumerate(names))
        rows.append([description, *(by_name[index].get(name) for index, name in enumerate(names))])
    rest = [
        {name: one for name, one in descriptions.items() if (index, name) not in used_names}
        for index, descriptions in enumerate(by_name)
    ]
    names_left = dict.fromkeys(name for descriptions in rest for name in descriptions)
    return rows + [[None, *(descriptions.get(name) for descriptions in rest)] for name in names_left]


def comparison_of(findings: Findings, pair: int, baseline_name: str) -> Comparison | None:
    if pair >= len(findings.pairs):
        return None
    return next(
        (comparison for comparison in findings.pairs[pair].comparisons if comparison.metric.name == baseline_name), None
    )


def _metric_part(
    findings: Findings, labels: Sequence[str], index: int, row: Sequence[Description | None]
) -> MetricPart:
    described = [
        (description, label) for description, label in zip(row, labels, strict=True) if description is not None
    ]
    first = described[0][0]
    comparisons = tuple(
        None if row[0] is None else comparison_of(findings, pair, first.metric.name)
        for pair in range(len(findings.pairs))
    )
    name = next(
        (metric_name(comparison) for comparison in comparisons if comparison is not None), name_text(first.metric.name)
    )
    unreported = tuple(f"not reported by {label}" for label in labels[1 : len(comparisons) + 1])
    is_compared = any(comparison is not None for comparison in comparisons)
    reasons = tuple(reason if is_compared else "only one side reports this metric" for reason in unreported)
    estimation = estimation_plot(f"m{index}e", name, row, labels, comparisons)
    curve = curve_plot(f"m{index}c", name, findings, row, labels)
    is_primary = first.metric.name == findings.primary
    shape = shape_rows([description for description, _ in described])
    columns = description_columns(next((description for description, _ in described if description.n > 1), first))
    rows = tuple(description_row(description, label) for description, label in described)
    quantity_table: Table | Absent | None = None
    if is_compared:
        caption = f"{name}: candidate against baseline"
        quantity_table = quantities(caption, labels[1 : len(comparisons) + 1], quantity_rows(comparisons, unreported))
    elif findings.pairs:
        quantity_table = Absent("Not compared: only one side reports this metric.")
    shape_caption = f"{name}: shape of the scores, and cross-checks of the intervals above"
    return MetricPart(
        key=f"metric-{index}",
        name=name,
        is_primary=is_primary,
        is_folded=index >= N_OPEN and not is_primary,
        facts=_facts(first.metric, is_primary=is_primary),
        overview=tuple(
            Absent(f"not reported by {label}")
            if description is None
            else mean_cell(description, unit_of(description.metric))
            for description, label in zip(row, labels, strict=True)
        ),
        overview_n=tuple("" if description is None else f"n = {n_text(description)}" for description in row),
        cv=Absent(f"not reported by {labels[0]}") if row[0] is None else cell_of(row[0].cv, share),
        judgements=tuple(
            Absent(reason) if comparison is None else judgement_of(comparison)
            for comparison, reason in zip(comparisons, reasons, strict=True)
        ),
        descriptions=Table(f"{name}: runs of each experiment", columns, rows),
        quantities=quantity_table,
        shape=quantities(shape_caption, [label for _, label in described], shape) if shape else None,
        estimation=Figure(estimation, estimation.caption)
        if estimation
        else Absent(f"No points to draw: {first.note or 'no run gave a score'}."),
        curve=Figure(curve, curve.caption)
        if curve
        else Absent("No curve: no run reported this metric at more than one step."),
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
