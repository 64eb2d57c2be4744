"""The results table: one row model for LaTeX, Markdown and other forms with one table of all results."""

from collections.abc import Iterator, Sequence

from deviate.model import Comparison, Description, Findings
from deviate.report.document import Absent, Cell, Entry, Layout, Row, Table
from deviate.report.format import clean, unit_head
from deviate.report.parts.caption import caption, level, short
from deviate.report.parts.compare import metric_name
from deviate.report.parts.describe import unit_of
from deviate.report.parts.metrics import comparison_of, matched_rows
from deviate.report.parts.table_cells import (
    EMPTY,
    Footnotes,
    absent,
    compare_cells,
    describe_cells,
    mean_of,
    mean_with_n,
    n_cell,
)
from deviate.report.parts.winner import best_of


def result_table(
    findings: Findings, labels: Sequence[str], *, as_declared: bool = False, layout: Layout | None = None
) -> Table:
    """The results table; its caption has quantity, n, meaning of ±, test, correction and type of interval.

    Args:
        as_declared: metrics in the order of their declaration, not the primary one first and then by spread.
        layout: None for wide where that is possible. Where it is not, wide is long.
    """
    notes, labels = Footnotes(), [short(label) for label in labels]
    rows_of = _in_order(findings, as_declared=as_declared)
    has_columns = len(findings.pairs) == 1 if findings.pairs else len(labels) == 1
    chosen = layout or "wide"
    chosen = "long" if chosen == "wide" and not has_columns else chosen
    build = _build_compared if findings.pairs else _build_described
    columns, second, rows = build(findings, labels, rows_of, notes, chosen)
    title = caption(
        findings,
        labels,
        rows_of,
        has_best=any(isinstance(entry, Cell) and entry.is_best for row in rows for entry in row.cells),
        has_n_column=not (findings.pairs and chosen == "wide"),
    )
    return Table(title, columns, tuple(rows), second_columns=second, footnotes=tuple(notes.texts))


Descriptions = list[Description | None]
Built = tuple[tuple[str, ...], tuple[str, ...], list[Row]]


def _in_order(findings: Findings, *, as_declared: bool) -> list[Descriptions]:
    rows = matched_rows(findings)
    if not as_declared:
        return rows
    declared = [metric.name for metric in findings.experiments[0].experiment.metrics]

    def place(row: Descriptions) -> int:
        name = row[0].metric.name if row[0] is not None else None
        return declared.index(name) if name in declared else len(declared)

    return sorted(rows, key=place)


def _build_compared(
    findings: Findings, labels: Sequence[str], described_rows: Sequence[Descriptions], notes: Footnotes, layout: Layout
) -> Built:
    interval = f"[{level(findings)}]"
    heads = tuple(head.format(interval) for head, _ in _COMPARED[layout])
    if layout == "wide":
        return ("metric", *labels, *heads), (), [_wide_row(findings, labels, row, notes) for row in described_rows]
    rows = [long_row for row in described_rows for long_row in _long_rows(findings, labels, row, notes, layout)]
    second = ("", "", "", interval, "", "") if layout == "stacked" else ()
    return ("experiment", "n", "mean ± SD", *heads), second, rows


def _wide_row(findings: Findings, labels: Sequence[str], row: Descriptions, notes: Footnotes) -> Row:
    comparisons = _comparisons(findings, row)
    best = best_of(findings, comparisons)
    means = [
        mean_with_n(description, label, notes, is_best=best == index)
        for index, (description, label) in enumerate(zip(row, labels, strict=True))
    ]
    cells = compare_cells(comparisons[0], notes)
    return Row(_metric_label(row, comparisons), (*means, *(cells[name] for _, name in _COMPARED["wide"])))


def _long_rows(
    findings: Findings, labels: Sequence[str], row: Descriptions, notes: Footnotes, layout: Layout
) -> Iterator[Row]:
    comparisons = _comparisons(findings, row)
    best, nothing = best_of(findings, comparisons), (EMPTY,) * len(_COMPARED[layout])
    yield Row(_metric_label(row, comparisons), (EMPTY, EMPTY, *nothing), is_heading=True)
    for index, (description, label) in enumerate(zip(row, labels, strict=True)):
        if description is None:
            missing = absent(f"not reported by {label}", notes)
            start: tuple[Entry, ...] = (missing, missing)
        else:
            start = (n_cell(description, notes), mean_of(description, notes, is_best=best == index))
        cells = compare_cells(comparisons[index - 1], notes) if index else {}
        compared = tuple(cells[name] for _, name in _COMPARED[layout]) if index else nothing
        yield Row(label, (*start, *compared), begins=False)
        if index and layout == "stacked":
            below = (EMPTY, EMPTY, cells["interval"], EMPTY, cells["within"])
            if any(isinstance(entry, Absent) or entry.pieces for entry in below):
                yield Row("", below, begins=False)


def _comparisons(findings: Findings, row: Descriptions) -> list[Comparison | None]:
    name = row[0].metric.name if row[0] is not None else None
    return [None if name is None else comparison_of(findings, index, name) for index in range(len(findings.pairs))]


def _build_described(
    _findings: Findings, labels: Sequence[str], described_rows: Sequence[Descriptions], notes: Footnotes, layout: Layout
) -> Built:
    has_variants = len(labels) > 1
    lines = _STACKED if layout == "stacked" else _DESCRIBED
    rows: list[Row] = []
    for row in described_rows:
        name = _metric_label(row, ())
        rows += [Row(name, (EMPTY,) * len(lines[0]), is_heading=True)] if has_variants else []
        for description, label in zip(row, labels, strict=True):
            if description is None:
                continue
            cells = {"": EMPTY, **describe_cells(description, notes)}
            for place, line in enumerate(lines):
                title = "" if place else label if has_variants else name
                begins = not place and not has_variants
                rows.append(Row(title, tuple(cells[key] for _, key in line), begins=begins))
    heads = [tuple(head for head, _ in line) for line in lines]
    second = ("", *heads[1]) if len(lines) > 1 else ()
    return ("variant" if has_variants else "metric", *heads[0]), second, rows


_FIGURES = (("difference {}", "difference and interval"), ("adj. p", "p"), ("verdict", "verdict and margin"))
_COMPARED: dict[Layout, tuple[tuple[str, str], ...]] = {
    "wide": _FIGURES,
    "long": _FIGURES,
    "split": (("difference", "difference"), ("{}", "interval"), *_FIGURES[1:]),
    "stacked": (("difference", "difference"), ("adj. p", "p"), ("verdict", "verdict")),
}
"""Columns of a comparison: heads, with the level of the interval in them, and names of cells."""
_DESCRIBED = (
    (
        *(("n", "n"), ("mean ± SD", "mean"), ("CI of mean", "mean interval")),
        *(("CI of SD", "SD interval"), ("CV", "CV"), ("range", "range")),
    ),
)
_STACKED = (
    (("n", "n"), ("mean ± SD", "mean"), ("CI of SD", "SD interval"), ("CV", "CV")),
    (("", ""), ("CI of mean", "mean interval"), ("range", "range"), ("", "")),
)
"""Columns of a description: of one line, and of two lines below each other."""


def _metric_label(row: Descriptions, comparisons: Sequence[Comparison | None]) -> str:
    first = next(description for description in row if description is not None)
    name = next(
        (metric_name(comparison) for comparison in comparisons if comparison is not None), clean(first.metric.name)
    )
    unit = short(unit_of(first.metric))
    return unit_head(short(name), unit)
