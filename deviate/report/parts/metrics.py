"""Metrics as text: the row of each in the overview, and its tables."""

from collections.abc import Callable, Sequence
from typing import Any

from deviate.model.aggregates import AT, AT_BEST, MEAN_LAST
from deviate.model.comparisons import Comparison, Description
from deviate.model.estimates import NOT_APPLICABLE, NOT_ASKED, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.places import place_text
from deviate.model.plan import SelectedMetric
from deviate.report.document import Absent, DocumentTable, MetricPart, ReportFigure, TableRow, cell, quantities
from deviate.report.format import clean, confidence_text, counted, difference_unit, name_text, replicates, shorten
from deviate.report.numbers import TO, Pieces, ShownNumber, append_unit, ends, factor, share
from deviate.report.parts.compare import judgement_of, metric_name
from deviate.report.parts.describe import (
    cell_of,
    description_columns,
    description_row,
    mean_cell,
    n_text,
    places_of,
    restated,
    unit_of,
)
from deviate.report.parts.many_runs import curves_per_group, points_per_group
from deviate.report.parts.metric_plots import curve_plot, estimation_plot
from deviate.report.parts.quantities import quantity_rows

DIRECTIONS = {"max": "higher is better", "min": "lower is better", None: "direction unknown"}
PLAIN = {
    "last": "last value of each run",
    "best": "best value of each run",
    "mean": "mean over the steps of each run",
    "median": "median over the steps of each run",
    "min": "lowest value of each run",
    "max": "highest value of each run",
}


def aggregate_words(aggregate: str) -> str:
    if aggregate.startswith(AT_BEST):
        return f"value of each run at the best {name_text(aggregate.removeprefix(AT_BEST))}"
    if aggregate.startswith(MEAN_LAST):
        n_steps = int(aggregate.removeprefix(MEAN_LAST))
        return f"mean over the last {n_steps} main-loop steps of each run" if n_steps > 1 else PLAIN["last"]
    if aggregate.startswith(AT):
        return f"value at main-loop step {clean(aggregate.removeprefix(AT))} of each run"
    return PLAIN.get(aggregate, name_text(aggregate))


def metric_parts(findings: Findings, labels: Sequence[str]) -> tuple[MetricPart, ...]:
    """One part per metric: metrics of the baseline in order, then metrics that only candidates report."""
    rows = matched_rows(findings)
    n_groups = len(rows) * len(labels)
    return tuple(_metric_part(findings, labels, index, row, n_groups) for index, row in enumerate(rows))


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
    findings: Findings, labels: Sequence[str], index: int, row: Sequence[Description | None], n_groups: int
) -> MetricPart:
    """The part of one metric; `n_groups` are those of all metrics and experiments, which share the room on the page."""
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
    estimation = estimation_plot(f"m{index}e", name, row, labels, comparisons, points_per_group(n_groups))
    curve = curve_plot(f"m{index}c", name, findings, row, labels, curves_per_group(n_groups))
    is_primary = first.metric.name == findings.primary
    shape = shape_rows([description for description, _ in described])
    columns = description_columns(next((description for description, _ in described if description.n > 1), first))
    rows = tuple(description_row(description, label) for description, label in described)
    quantity_table: DocumentTable | Absent | None = None
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
        is_result=first.metric.role == "quality",
        facts=(*_facts(first.metric, is_primary=is_primary), *restated(first)),
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
        descriptions=DocumentTable(f"{name}: runs of each experiment", columns, rows),
        quantities=quantity_table,
        shape=quantities(shape_caption, [label for _, label in described], shape) if shape else None,
        estimation=ReportFigure(estimation, estimation.caption)
        if estimation
        else Absent(f"No points to draw: {first.note or 'no run gave a score'}."),
        curve=ReportFigure(curve, curve.caption)
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
    return (*facts, clean(place_text(source.file, source.line)), shorten(clean(source.expression), 80))


# Shape of scores and cross-checks: supplements to mean, SD and their intervals.

OUTLIERS = "farther than 3.5 MADs from the median; in 21 % of samples of 5 normal scores one is, of 30 in 9 %"
CROSS_CHECK = "over runs: a cross-check, too narrow with few"
SHAPE = "bias-corrected; 0 for normal scores"
Quantity = tuple[str, str, str, Callable[[Description, Any], Pieces]]
"""Label and method of a row, the field of a description that it shows, and how that is written."""


def shape_rows(descriptions: Sequence[Description]) -> tuple[TableRow, ...]:
    """Rows of one metric with a cell per experiment; rows that were not requested or do not apply are left out.

    With fewer than two runs there is no row; the table above states the reason.
    """
    if all(description.n < 2 for description in descriptions):
        return ()
    rows = [_row(quantity, descriptions) for quantity in (*_QUANTITIES, _test_set(descriptions))]
    return tuple(row for row in rows if row is not None)


def _row(quantity: Quantity, descriptions: Sequence[Description]) -> TableRow | None:
    """A row; the confidence level and the method of the interval are stated first."""
    label, method, field, written = quantity
    figures = [getattr(description, field) for description in descriptions]
    if all(figure in (NOT_ASKED, NOT_APPLICABLE) for figure in figures):
        return None
    intervals = [figure for figure in figures if isinstance(figure, Interval)]
    methods = dict.fromkeys(f"{confidence_text(interval.confidence)}, {interval.method}" for interval in intervals)
    cells = tuple(
        Absent(figure.reason) if isinstance(figure, Unavailable) else cell(*written(description, figure))
        for description, figure in zip(descriptions, figures, strict=True)
    )
    return TableRow(label, cells, method=" ".join([*methods, method]).strip())


def _scale(description: Description, value: float) -> Pieces:
    """A measure of spread, which is in points if the metric is a percentage."""
    return append_unit((ShownNumber(value, places_of(description)),), difference_unit(unit_of(description.metric)))


def _both(description: Description, quartiles: tuple[float, float]) -> Pieces:
    places = places_of(description)
    first, third = quartiles
    return (*ends(first, third, places), "; ", *_scale(description, third - first))


def _outliers(description: Description, mad: float) -> Pieces:
    if mad <= 0:
        return ("not shown: most scores are equal",)
    return (replicates(description.outliers) if description.outliers else "none",)


def _ends(description: Description, interval: Interval) -> Pieces:
    return ends(interval.low, interval.high, places_of(description))


def _test_set(descriptions: Sequence[Description]) -> Quantity:
    """Number of examples in the test set, and that more runs do not reduce this error."""
    n_examples = dict.fromkeys(
        description.n_examples for description in descriptions if description.n_examples is not None
    )
    text = f"√(p (1 − p) / N), {' or '.join(counted(n, 'example') for n in n_examples)}: "
    method = f"{text if n_examples else ''}no number of runs reduces it"
    return "error of the test set", method, "sampling_se", _scale


_QUANTITIES: tuple[Quantity, ...] = (
    ("standard error of the mean", "SD / √n", "se", _scale),
    ("quartiles", "linear between scores, then their distance", "quartiles", _both),
    ("MAD", "scaled to the SD of normal scores", "mad", _scale),
    ("skewness", SHAPE, "skewness", lambda _, value: factor(value)),
    ("excess kurtosis", SHAPE, "kurtosis", lambda _, value: factor(value)),
    ("outliers", OUTLIERS, "mad", _outliers),
    ("interval of the CV", "", "cv_interval", lambda _, cv: (*share(cv.low), TO, *share(cv.high))),
    ("CV of the error rate", "SD / (1 − mean)", "error_cv", lambda _, value: share(value)),
    ("interval of the mean", CROSS_CHECK, "mean_bootstrap", _ends),
    ("interval of the mean", CROSS_CHECK, "mean_percentile", _ends),
    ("interval of the SD", CROSS_CHECK, "sd_bootstrap", _ends),
    ("interval of the median", CROSS_CHECK, "median_bootstrap", _ends),
)
