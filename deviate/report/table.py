"""The table of results: one row model for LaTeX, Markdown and whatever else has one table for all figures."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from deviate.model import Comparison, Description, Estimate, Findings, Interval, Unavailable
from deviate.report.best import best_of
from deviate.report.caption import caption, level, short
from deviate.report.compare import metric_name, places_of_difference, verdict_word
from deviate.report.describe import mean_cell, missing_text, n_text, places_of, range_cell, unit_of
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    p_cell,
    percentage,
    signed,
    with_unit,
)
from deviate.report.metrics import comparison_of, matched_rows
from deviate.report.view import Cell, View

NOTHING = "—"


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of the table.

    Attributes:
        is_figure: numbers and signs alone, nothing of the user's.
        is_best: better than every other experiment of this row, by adjusted p.
        notes: numbers of the footnotes that belong to it, from 1.
    """

    text: str
    is_figure: bool = True
    is_best: bool = False
    notes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row; `begins` where it is the first of several about one metric."""

    label: str
    cells: tuple[TableCell, ...]
    begins: bool = True


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The figures of a report in one table.

    Attributes:
        headers: of the label and of the cells.
        caption: quantity, n, what ± is, test, correction, type of interval.
        footnotes: the first is number 1.
    """

    headers: tuple[str, ...]
    rows: tuple[TableRow, ...]
    caption: str
    footnotes: tuple[str, ...]


def result_table(view: View, *, as_declared: bool = False) -> ResultTable:
    """The table of a report.

    Args:
        as_declared: metrics in the order of their declaration, not the primary one first and then by spread.
    """
    labels = [short(it.label) for it in view.experiments]
    notes = _Footnotes()
    described = _in_order(view.findings, as_declared=as_declared)
    build = _compared if view.findings.pairs else _described
    headers, rows = build(view.findings, labels, described, notes)
    title = caption(view.findings, labels, described, has_best=any(it.is_best for row in rows for it in row.cells))
    return ResultTable(headers, tuple(rows), title, tuple(notes.texts))


Row = list[Description | None]


class _Footnotes:
    """Footnotes in the order of their first use; equal ones share a number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def numbers(self, *texts: str) -> tuple[int, ...]:
        cleaned = dict.fromkeys(clean(text) for text in texts if text)
        self.texts += [text for text in cleaned if text not in self.texts]
        return tuple(sorted(self.texts.index(text) + 1 for text in cleaned))


def _in_order(findings: Findings, *, as_declared: bool) -> list[Row]:
    rows = matched_rows(findings)
    if not as_declared:
        return rows
    declared = [metric.name for metric in findings.experiments[0].experiment.metrics]

    def place(row: Row) -> int:
        name = row[0].metric.name if row[0] is not None else None
        return declared.index(name) if name in declared else len(declared)

    return sorted(rows, key=place)


def _compared(
    findings: Findings, labels: Sequence[str], described: Sequence[Row], notes: _Footnotes
) -> tuple[tuple[str, ...], list[TableRow]]:
    headers = ("metric", *labels)
    is_wide = len(findings.pairs) == 1
    if is_wide:
        headers += (f"difference [{level(findings)}]", "adjusted p", "verdict")
    rows: list[TableRow] = []
    for row in described:
        comparisons = _comparisons(findings, row)
        best = best_of(findings, comparisons)
        means = tuple(
            _mean_cell(it, label, notes, is_best=best == index)
            for index, (it, label) in enumerate(zip(row, labels, strict=True))
        )
        compared = [_compared_cells(it, notes) for it in comparisons]
        name = _metric_label(row, comparisons)
        if is_wide:
            rows.append(TableRow(name, (*means, *compared[0])))
            continue
        rows.append(TableRow(name, means))
        nothing = TableCell("")
        for index, quantity in enumerate((f"difference [{level(findings)}]", "adjusted p", "verdict")):
            rows.append(TableRow(quantity, (nothing, *(cells[index] for cells in compared)), begins=False))
    return headers, rows


def _comparisons(findings: Findings, row: Row) -> list[Comparison | None]:
    name = row[0].metric.name if row[0] is not None else None
    return [None if name is None else comparison_of(findings, index, name) for index in range(len(findings.pairs))]


def _compared_cells(comparison: Comparison | None, notes: _Footnotes) -> tuple[TableCell, ...]:
    if comparison is None:
        return (TableCell(NOTHING), TableCell(NOTHING), TableCell("not compared", is_figure=False))
    is_withheld = comparison.verdict.word == "withheld"
    return (
        _difference_cell(comparison, notes),
        _estimate_cell(comparison.p_adjusted, p_cell, notes),
        TableCell(
            verdict_word(comparison),
            is_figure=False,
            notes=notes.numbers(comparison.verdict.reason if is_withheld else ""),
        ),
    )


def _difference_cell(comparison: Comparison, notes: _Footnotes) -> TableCell:
    """With its interval, and without a unit, which stands with the metric."""
    difference, interval = comparison.difference, comparison.difference_interval
    if isinstance(difference, Unavailable):
        return TableCell(NOTHING, notes=notes.numbers(difference.reason, comparison.note))
    places = places_of_difference(comparison)
    if isinstance(interval, Unavailable):
        return TableCell(signed(difference, places), notes=notes.numbers(interval.reason, comparison.note))
    text = f"{signed(difference, places)} {_bracket(interval, places)}"
    return TableCell(text, notes=notes.numbers(interval.note, comparison.note))


def _described(
    findings: Findings, labels: Sequence[str], described: Sequence[Row], notes: _Footnotes
) -> tuple[tuple[str, ...], list[TableRow]]:
    has_variants = len(labels) > 1
    interval = f"{confidence_text(findings.confidence)} CI"
    headers = ("metric", *(("variant",) if has_variants else ()), "n", "mean ± SD")
    headers += (f"{interval} of the mean", f"{interval} of the SD", "CV", "range")
    rows = []
    for row in described:
        name = _metric_label(row, ())
        reported = [(it, label) for it, label in zip(row, labels, strict=True) if it is not None]
        for index, (description, label) in enumerate(reported):
            cells = _description_cells(description, notes)
            variant = (TableCell(label, is_figure=False),) if has_variants else ()
            rows.append(TableRow(name if index == 0 else "", (*variant, *cells), begins=index == 0))
    return headers, rows


def _description_cells(description: Description, notes: _Footnotes) -> Iterator[TableCell]:
    places = places_of(description)
    yield TableCell(n_text(description).replace(" of ", "/"), notes=notes.numbers(missing_text(description)))
    yield _cell(mean_cell(description), notes, description.note)
    for interval in (description.mean_interval, description.sd_interval):
        if isinstance(interval, Interval):
            yield TableCell(_bracket(interval, places), notes=notes.numbers(interval.note))
        else:
            yield _cell(Cell(interval.reason, is_reason=True), notes)
    yield _estimate_cell(description.cv, percentage, notes)
    yield _cell(range_cell(description), notes)


def _mean_cell(description: Description | None, label: str, notes: _Footnotes, *, is_best: bool) -> TableCell:
    if description is None:
        return TableCell(NOTHING, notes=notes.numbers(f"not reported by {label}"))
    cell = mean_cell(description)
    reason = cell.text if cell.is_reason and not description.note else ""
    told = notes.numbers(reason, description.note, missing_text(description))
    n = n_text(description).replace(" of ", "/")
    return TableCell(f"{NOTHING if cell.is_reason else cell.text} ({n})", is_best=is_best, notes=told)


def _cell(cell: Cell, notes: _Footnotes, note: str = "") -> TableCell:
    if cell.is_reason:
        return TableCell(NOTHING, notes=notes.numbers(cell.text, note))
    return TableCell(cell.text, notes=notes.numbers(note))


def _estimate_cell(estimate: Estimate, written: Callable[[float], str], notes: _Footnotes) -> TableCell:
    if isinstance(estimate, Unavailable):
        return TableCell(NOTHING, notes=notes.numbers(estimate.reason))
    return TableCell(written(estimate))


def _bracket(interval: Interval, places: int | None) -> str:
    return f"[{between(interval.low, interval.high, places)}]"


def _metric_label(row: Row, comparisons: Sequence[Comparison | None]) -> str:
    first = next(it for it in row if it is not None)
    name = next((metric_name(it) for it in comparisons if it is not None), clean(first.metric.name))
    unit = short(unit_of(first.metric))
    return with_unit(short(name), f"({unit})" if unit else "")
