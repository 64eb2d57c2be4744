"""The table of results, one for all forms: a row per metric and candidate, or per metric and experiment."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from deviate.model.comparisons import Comparison, Contrast, Description
from deviate.model.estimates import VERDICT_RUNS, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.plan import SelectedMetric
from deviate.report.document import (
    NOTHING,
    Absent,
    Cell,
    DocumentTable,
    Entry,
    MetricPart,
    ReportFigure,
    Section,
    TableRow,
    cell,
)
from deviate.report.format import MINUS, clean, confidence_text, counted, name_text, shorten_middle, unit_head
from deviate.report.numbers import ShownNumber, ends, share
from deviate.report.parts.compare import metric_name, p_cells, places_of_difference, tone_of, verdict_word, why_open
from deviate.report.parts.describe import (
    Footnotes,
    absent,
    cell_of,
    mark,
    mean_cell,
    mean_text,
    missing_text,
    n_pieces,
    places_of,
    range_cell,
    unit_of,
)
from deviate.report.parts.metrics import aggregate_words, comparison_of, matched_rows
from deviate.report.parts.noise import is_study
from deviate.report.plots import EstimationPlot
from deviate.series.lookup import require_metric

Descriptions = Sequence[Description | None]
"""One metric in each experiment; None where it did not report the metric."""
EMPTY = cell()
ADJUSTED = "p (adj.: decides)"


def row_names(findings: Findings, asked: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the metrics that are rows of the table of results, in order.

    Args:
        asked: by the user, in this order; the primary metric is put first if it is missing. None asked: all results.

    Raises:
        InputError: no experiment reported such a metric.
    """
    described_rows = matched_rows(findings)
    if not asked:
        return tuple(dict.fromkeys(_first(row).metric.name for row in _results(described_rows)))
    names = [_first(row).metric.name for row in described_rows]
    for name in asked:
        require_metric(name, names, option="--rows")
    primary = [findings.primary] if findings.primary in names and findings.primary not in asked else []
    return tuple(dict.fromkeys((*primary, *asked)))


def result_table(
    findings: Findings, labels: Sequence[str], names: Sequence[str] | None = None, *, has_cv: bool = False
) -> DocumentTable:
    """The table of results; its caption has quantity, n, meaning of ±, test, correction and type of interval.

    Args:
        names: of the metrics, in order; None for all results.
        has_cv: a column more of comparisons, by which they can be sorted: the coefficient of variation of the baseline.
    """
    notes, labels = Footnotes(), [short(label) for label in labels]
    matched, names = matched_rows(findings), row_names(findings) if names is None else names
    described_rows = [row for name in names for row in matched if _first(row).metric.name == name]
    each = _runs_each(described_rows)
    rows: list[TableRow] = []
    for row in described_rows:
        if findings.pairs:
            rows += _compared(findings, labels, row, notes, has_n=not each, has_cv=has_cv)
        else:
            rows += _described(labels, row, notes)
    has_best = any(isinstance(entry, Cell) and entry.is_best for row in rows for entry in row.cells)
    title = caption(findings, labels, described_rows, has_best=has_best)
    columns = _columns(findings, labels, has_cv=has_cv)
    return DocumentTable(title, columns, tuple(rows), footnotes=tuple(notes.texts))


def metric_section(
    findings: Findings, labels: Sequence[str], metrics: Sequence[MetricPart], names: Sequence[str]
) -> Section:
    """The table of results with the points of every run, and the other metrics in a line.

    Args:
        names: of the metrics that are rows, in order.
    """
    if not metrics:
        return Section("metrics", "Metrics", (Absent("No metric was recorded."),))
    figures = {metric.key: metric.estimation for metric in metrics if isinstance(metric.estimation, ReportFigure)}
    plots = {key: figure.plot for key, figure in figures.items() if isinstance(figure.plot, EstimationPlot)}
    table = result_table(findings, labels, names, has_cv=True)
    rows = tuple(replace(row, points=plots.get(row.group)) if row.begins else row for row in table.rows)
    described_rows = matched_rows(findings)
    shown = [row for row in described_rows if _first(row).metric.name in names]
    others = [row for row in described_rows if row not in shown]
    texts = (
        f"{name_text(_first(row).metric.shown)} {' | '.join(mean_text(one) for one in row if one is not None)}"
        for row in others
    )
    is_judged = any(row in _results(described_rows) for row in others)
    sentence = f"Other metrics{'' if is_judged else ', without a verdict'}: {'; '.join(texts)}."
    title = spread_words(shown)
    return Section("metrics", "Metrics", (replace(table, caption=title, rows=rows), *([sentence] if others else [])))


def _results(rows: list[list[Description | None]]) -> list[list[Description | None]]:
    """Rows of results, without times, settings and counters; all where there is no result."""
    results = [row for row in rows if any(one is not None and one.metric.role == "quality" for one in row)]
    return results or rows


def _first(row: Descriptions) -> Description:
    return next(description for description in row if description is not None)


def _runs_each(rows: Sequence[Descriptions]) -> str:
    """`6 runs each`, where all experiments have as many runs and these a score in all metrics; else empty."""
    sizes = {one and (one.n, one.n_runs) for row in rows for one in row}
    size = next(iter(sizes)) if len(sizes) == 1 else None
    return f"{counted(size[0], 'run')} each" if size and size[0] == size[1] else ""


def _columns(findings: Findings, labels: Sequence[str], *, has_cv: bool) -> tuple[str, ...]:
    if not findings.pairs:
        of = f"{confidence_text(findings.confidence)} CI of"
        return ("metric", "n", "mean ± SD", f"{of} mean", f"{of} SD", "CV", "range")
    compared = (comparison for pair in findings.pairs for comparison in pair.comparisons)
    p_head = "p" if all(p_cells(comparison)[1] is None for comparison in compared) else ADJUSTED
    candidate = labels[1] if len(labels) == 2 else "candidate"
    columns = ("metric", labels[0], candidate, f"difference [{level(findings)}]", p_head, "verdict")
    return (*columns, "CV") if has_cv else columns


def _compared(
    findings: Findings, labels: Sequence[str], row: Descriptions, notes: Footnotes, *, has_n: bool, has_cv: bool
) -> Iterator[TableRow]:
    """A row per candidate."""
    first = None if row[0] is None else row[0].metric.name
    comparisons = [None if first is None else comparison_of(findings, index, first) for index in range(len(row) - 1)]
    best, label = best_of(findings, comparisons), _metric_label(row, comparisons)
    means = [
        _mean(description, label_of_side, notes, is_best=best == index, has_n=has_n)
        for index, (description, label_of_side) in enumerate(zip(row, labels, strict=True))
    ]
    cv: Entry = cell(NOTHING) if row[0] is None else cell_of(row[0].cv, share)
    for index, comparison in enumerate(comparisons, start=1):
        name = label if len(labels) == 2 else f"{label}, {labels[index]}"
        cells = (means[0], means[index], *_figures(comparison, notes), *([cv] if has_cv else []))
        yield TableRow(name, cells, group=_first(row).metric.name, begins=index == 1)


def _figures(comparison: Comparison | None, notes: Footnotes) -> tuple[Entry, Entry, Entry]:
    """Difference with interval, p, and verdict."""
    if comparison is None:
        return cell(NOTHING), cell(NOTHING), cell("not compared")
    own, adjusted = p_cells(comparison)
    p_value = mark(own, notes)
    if adjusted is not None and isinstance(p_value, Cell):
        p_value = replace(p_value, pieces=(*p_value.pieces, " (", *adjusted.pieces, ")"), value=adjusted.value)
    word = Cell((verdict_word(comparison),), marks=notes.numbers(why_open(comparison)), tone=tone_of(comparison))
    return _difference(comparison, notes), p_value, word


def _difference(comparison: Comparison, notes: Footnotes) -> Entry:
    """Difference with interval; the unit is stated with the metric."""
    difference, interval = comparison.difference, comparison.difference_interval
    if isinstance(difference, Unavailable):
        return Absent(difference.reason, marks=notes.numbers(difference.reason, comparison.note))
    places = places_of_difference(comparison)
    number = ShownNumber(difference, places, "signed")
    if isinstance(interval, Unavailable):
        return Cell((number,), value=difference, marks=notes.numbers(interval.reason, comparison.note))
    marks = notes.numbers(interval.note, comparison.note)
    return Cell((number, " [", *ends(interval.low, interval.high, places), "]"), value=difference, marks=marks)


def _described(labels: Sequence[str], row: Descriptions, notes: Footnotes) -> Iterator[TableRow]:
    """A row per experiment that reported the metric."""
    name = _metric_label(row, ())
    reported = [(one, label) for one, label in zip(row, labels, strict=True) if one is not None]
    for index, (description, label) in enumerate(reported):
        cells = (
            n_cell(description, notes),
            mark(mean_cell(description), notes, description.note),
            _bracket(description, description.mean_interval, notes),
            _bracket(description, description.sd_interval, notes),
            mark(cell_of(description.cv, share), notes),
            mark(range_cell(description), notes),
        )
        title = name if len(labels) == 1 else f"{name}, {label}"
        yield TableRow(title, cells, group=description.metric.name, begins=not index)


def _metric_label(row: Descriptions, comparisons: Sequence[Comparison | None]) -> str:
    first = _first(row).metric
    names = (metric_name(comparison) for comparison in comparisons if comparison is not None)
    return unit_head(short(next(names, clean(first.shown))), short(unit_of(first)))


# The caption: quantity, n, meaning of ±, test, correction, and type of interval.

LONGEST_NAME = 60
"""Characters of a name in a table: what follows leaves no room for the figures."""
MOST_NAMES = 3


def spread_words(rows: Sequence[Descriptions]) -> str:
    """`Mean ± SD over 6 runs each (ddof 1)`, or what stands in parentheses behind it."""
    if each := _runs_each(rows):
        return f"Mean ± SD over {each} (ddof 1)"
    is_whole = all(one is None or one.n == one.n_runs for row in rows for one in row)
    return f"Mean ± SD over n runs (ddof 1{'' if is_whole else '; k/N: k of N runs have a score'})"


def caption(findings: Findings, labels: Sequence[str], described: Sequence[Descriptions], *, has_best: bool) -> str:
    """What is in the table, then how; more only on interim looks and bold rows. `described` has those of each row."""
    metrics = [_first(row).metric for row in described]
    # For scores that were given directly, it is unknown how measurements were aggregated.
    aggregates = dict.fromkeys(aggregate_words(one.aggregate) for one in metrics if one.metric.sink != "scores")
    quantity = f"{len(metrics)} metrics"
    if 0 < len(metrics) <= MOST_NAMES:
        quantity = ", ".join(short(clean(one.shown)) for one in metrics)
    scores = f" ({', '.join(aggregates)})" if aggregates else ""
    whose = f"{', '.join(labels[1:])} against {labels[0]}" if findings.pairs else labels[0]
    if is_study(findings):
        whose = f"Variants of {short(clean(findings.experiments[0].experiment.name))}"
    how = _how_compared(findings, metrics) if findings.pairs else _how_described(findings, described)
    sentences = [f"{whose}: {quantity}{scores}", "; ".join((spread_words(described), *how))]
    sentences += dict.fromkeys(f"{short(clean(pair.candidate))}: {pair.looks}" for pair in findings.pairs if pair.looks)
    sentences += ["Bold: better than every other here, by adjusted p"] if has_best else []
    return " ".join(f"{sentence}." for sentence in sentences)


def level(findings: Findings) -> str:
    """Confidence level of the intervals, `95% CI`; `CI` alone where they have different levels."""
    levels = dict.fromkeys(confidence_text(interval.confidence) for interval in _intervals(findings))
    return f"{next(iter(levels))} CI" if len(levels) == 1 else "CI"


def short(text: str) -> str:
    return shorten_middle(text, LONGEST_NAME)


def _how_compared(findings: Findings, metrics: Sequence[SelectedMetric]) -> Iterator[str]:
    """Difference, tests and correction of the comparisons in these metrics."""
    names = {metric.name for metric in metrics}
    compared = [one for pair in findings.pairs for one in pair.comparisons if one.metric.name in names]
    if not compared:
        yield "no metric was reported on both sides"
        return
    methods = _methods(_intervals(findings))
    yield f"difference (candidate {MINUS} baseline)" + (f" with {level(findings)} ({methods})" if methods else "")
    tests = dict.fromkeys(
        "paired t-test and sign flips" if one.is_paired else "Welch's t-test and studentized permutation test"
        for one in compared
    )
    families = " and ".join(map(str, sorted({one.verdict.n_family for one in compared} - {1})))
    adjusted = f"adjusted by Holm over {families} comparisons" if families else "not adjusted"
    yield f"p: two-sided, the larger of {'; of pairs '.join(tests)}, {adjusted}"


def _how_described(findings: Findings, described: Sequence[Descriptions]) -> Iterator[str]:
    """The methods of both intervals."""
    whole = [description for row in described for description in row if description is not None]
    ways = {"mean": _methods(one.mean_interval for one in whole), "SD": _methods(one.sd_interval for one in whole)}
    if any(ways.values()):
        of_each = ", ".join(f"of the {name} by {way}" for name, way in ways.items() if way)
        yield f"{confidence_text(findings.confidence)} intervals (CI) {of_each}"
    yield "CV: SD over |mean|; not compared"


def _methods(intervals: Iterable[Interval | Unavailable]) -> str:
    return ", ".join(dict.fromkeys(interval.method for interval in intervals if isinstance(interval, Interval)))


def _intervals(findings: Findings) -> list[Interval]:
    intervals = [comparison.difference_interval for pair in findings.pairs for comparison in pair.comparisons]
    return [interval for interval in intervals if isinstance(interval, Interval)]


# Cells, with their footnotes.


def n_cell(description: Description, notes: Footnotes) -> Cell:
    return Cell(n_pieces(description, "/"), value=description.n, marks=notes.numbers(missing_text(description)))


def _mean(description: Description | None, label: str, notes: Footnotes, *, is_best: bool, has_n: bool) -> Entry:
    """Mean ± SD, with n in parentheses where it is not the same everywhere."""
    if description is None:
        return absent(f"not reported by {label}", notes)
    mean, n = mean_cell(description), n_cell(description, notes)
    mean_marks = notes.numbers(description.note or (mean.reason if isinstance(mean, Absent) else ""))
    marks = tuple(sorted({*mean_marks, *n.marks}))
    size = (" (", *n.pieces, ")") if has_n else ()
    if isinstance(mean, Absent):
        return Cell((NOTHING, *size), marks=marks) if size else replace(mean, marks=marks)
    return replace(mean, pieces=(*mean.pieces, *size), is_best=is_best, marks=marks)


def _bracket(description: Description, interval: Interval | Unavailable, notes: Footnotes) -> Entry:
    entry = cell_of(interval, lambda known: ("[", *ends(known.low, known.high, places_of(description)), "]"))
    return mark(entry, notes, interval.note if isinstance(interval, Interval) else "")


# The best experiment in a metric: the one that is better than all others, not the one with the largest mean.


def best_of(findings: Findings, comparisons: Sequence[Comparison | None]) -> int | None:
    """Index of the experiment (0: baseline) that is better than all others in this metric; None if there is none.

    Args:
        comparisons: one per candidate; None where one did not report the metric.
    """
    if not comparisons or None in comparisons:
        return None
    words = [comparison.verdict.word for comparison in comparisons if comparison is not None]
    if all(word == "worse" for word in words):
        return 0
    better = [index for index, word in enumerate(words) if word == "better"]
    for index in better:
        rivals = [other for other in range(len(words)) if other != index]
        if all(_is_better(findings, comparisons, index, rival) for rival in rivals):
            return index + 1
    return None


def _is_better(findings: Findings, comparisons: Sequence[Comparison | None], one: int, other: int) -> bool:
    """Whether a candidate is better than another one, by the adjusted p of their contrast."""
    first, second = comparisons[one], comparisons[other]
    if first is None or second is None or min(first.candidate.n, second.candidate.n) < VERDICT_RUNS:
        return False
    table = next((table for table in findings.many if table.metric.name == first.metric.name), None)
    is_withheld = "withheld" in {first.verdict.word, second.verdict.word}
    if table is None or len(table.names) <= max(one, other) + 1 or is_withheld:
        return False
    names = table.names[one + 1], table.names[other + 1]
    for contrast in table.pairs:
        if {contrast.one, contrast.other} == set(names):
            sign = 1 if contrast.one == names[0] else -1
            return _excludes_zero(contrast, findings.confidence, sign if first.metric.direction == "max" else -sign)
    return False


def _excludes_zero(contrast: Contrast, confidence: float, sign: int) -> bool:
    interval, p_value = contrast.interval, contrast.p_adjusted
    if isinstance(p_value, Unavailable) or isinstance(interval, Unavailable) or p_value >= 1 - confidence:
        return False
    return interval.low > 0 if sign > 0 else interval.high < 0
