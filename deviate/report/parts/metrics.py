"""Metrics as text: the row of each in the overview, and its tables."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from deviate.model.aggregates import AT, AT_BEST, MEAN_LAST
from deviate.model.comparisons import Comparison, Description
from deviate.model.estimates import NOT_APPLICABLE, NOT_ASKED, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.places import place_text
from deviate.model.plan import SelectedMetric
from deviate.report.document import (
    Absent,
    Block,
    DocumentTable,
    Fold,
    MetricPart,
    ReportFigure,
    Section,
    TableRow,
    cell,
    quantities,
)
from deviate.report.format import clean, confidence_text, counted, difference_unit, name_text, replicates, shorten
from deviate.report.numbers import TO, Pieces, ShownNumber, append_unit, ends, factor, share
from deviate.report.parts.compare import metric_name
from deviate.report.parts.describe import (
    description_columns,
    description_row,
    places_of,
    restated,
    unit_of,
)
from deviate.report.parts.many_runs import curves_per_group, points_per_group
from deviate.report.parts.metric_plots import curve_plot, estimation_plot
from deviate.report.parts.quantities import quantity_rows

MOST_CURVES = 8
"""Metrics with curves on a page that is not the full one."""
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
    described = [(one, label) for one, label in zip(row, labels, strict=True) if one is not None]
    first, pairs = described[0][0], range(len(findings.pairs))
    comparisons = [None if row[0] is None else comparison_of(findings, pair, first.metric.name) for pair in pairs]
    compared_names = [metric_name(comparison) for comparison in comparisons if comparison is not None]
    name, candidates = (compared_names or [name_text(first.metric.shown)])[0], labels[1 : len(comparisons) + 1]
    estimation = estimation_plot(f"m{index}e", name, row, labels, comparisons, points_per_group(n_groups))
    curve = curve_plot(f"m{index}c", name, findings, row, labels, curves_per_group(n_groups))
    is_primary = first.metric.name == findings.primary
    columns = description_columns(next((description for description, _ in described if description.n > 1), first))
    rows = tuple(description_row(description, label) for description, label in described)
    blocks: list[Block] = [" · ".join((*_facts(first.metric, is_primary=is_primary), *restated(first)))]
    blocks.append(DocumentTable(f"{name}: runs of each experiment", columns, rows))
    if compared_names:
        compared = quantity_rows(comparisons, [f"not reported by {label}" for label in candidates])
        table = quantities(f"{name}: candidate against baseline", candidates, compared)
        blocks.append(Fold("Candidate against baseline, every quantity", (table,)))
    elif findings.pairs:
        blocks.append(Absent("Not compared: only one side reports this metric."))
    if shape := shape_rows([description for description, _ in described]):
        caption = f"{name}: shape of the scores, and cross-checks of the intervals above"
        blocks.append(Fold("Shape and cross-checks", (quantities(caption, [label for _, label in described], shape),)))
    no_points = Absent(f"No points to draw: {first.note or 'no run gave a score'}.")
    no_curve = Absent("No curve: no run reported this metric at more than one step.")
    return MetricPart(
        key=first.metric.name,
        name=name,
        is_primary=is_primary,
        is_result=first.metric.role == "quality",
        quantities=Section(f"metric-{index}", name, tuple(blocks), is_primary=is_primary),
        estimation=ReportFigure(estimation, estimation.caption, name) if estimation else no_points,
        curve=ReportFigure(curve, curve.caption, name) if curve else no_curve,
    )


def figure_sections(metrics: Sequence[MetricPart]) -> Iterator[Section]:
    """The scores of every run, but those of the first screen, and the curves; what all captions say stands first."""
    points = [metric.estimation for metric in metrics if isinstance(metric.estimation, ReportFigure)]
    main = next((metric.estimation for metric in metrics if metric.is_primary), points[0] if points else None)
    others = [figure for figure in points if figure is not main]
    if others:
        yield Section("points", "Every run", _with_one_caption(others), is_folded=True)
    curved = [metric.curve for metric in sorted(metrics, key=lambda metric: not metric.is_result)]
    curves = _with_one_caption([curve for curve in curved if isinstance(curve, ReportFigure)])
    n_results = sum(metric.is_result and isinstance(metric.curve, ReportFigure) for metric in metrics)
    n_open = 1 + min(n_results, MOST_CURVES)
    folded = [Fold("Curves of further metrics", curves[n_open:])] if curves[n_open:] else []
    absent = Absent("No metric was reported at more than one step.")
    yield Section("curves", "Curves", (*curves[:n_open], *folded) if n_results else (*folded, absent))


def _with_one_caption(figures: Sequence[ReportFigure]) -> tuple[Block, ...]:
    """Figures below their caption, which those that have the same do without."""
    note = figures[0].caption if figures else ""
    return (note, *(replace(one, caption="" if one.caption == note else one.caption) for one in figures))


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
