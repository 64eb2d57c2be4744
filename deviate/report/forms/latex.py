r"""The table of results as LaTeX: booktabs, for `\input`, and with its comments taken away a whole document."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deviate.report.document import Document
from deviate.report.form_registry import Medium
from deviate.report.format import shorten
from deviate.report.forms.latex_floats import floats
from deviate.report.forms.registry import document_form, renderer
from deviate.report.forms.siunitx import is_number, number_column, number_text, widest_number
from deviate.report.forms.tex import escape, figure, prose
from deviate.report.forms.text_width import SIZES, fitted, width_pt
from deviate.report.parts.table import Layout, ResultTable, TableRow, result_table
from deviate.report.parts.table_cells import TableCell
from deviate.report.view import View

MOST_ROWS = 40
"""More rows than this break over pages, which a float does not."""
LONGEST_LABEL = 60
LONGEST_NOTE = 400
LINE_PT = 340.0
"""Room in a line: the text of `article` is 345 pt wide, and that of a paper in two columns wider."""
SEPARATION_PT = 3.0
"""On each side of a column."""
QUAD, QUAD_PT = r"\quad ", 9.0
BOLD = 1.16
ALIGNED = frozenset({"n", "mean ± SD", "difference"})
"""Headers of the columns that siunitx aligns."""
KEYS = "separate-uncertainty,retain-explicit-plus,group-minimum-digits=12,detect-weight"
WITH_SIUNITX: tuple[Layout, ...] = ("split", "stacked")
WITHOUT: tuple[Layout, ...] = ("wide", "long", "stacked")


@dataclass(frozen=True, slots=True)
class _Set:
    """A table as it is set: the size of its letters, and a type for each column, the label's first."""

    table: ResultTable
    size: str
    columns: tuple[str, ...]

    @property
    def is_long(self) -> bool:
        return len(self.table.rows) > MOST_ROWS

    @property
    def packages(self) -> tuple[str, ...]:
        has_numbers = any(it.startswith("S") for it in self.columns)
        return ("booktabs", *(["longtable"] if self.is_long else []), *(["siunitx"] if has_numbers else []))


@document_form("latex")
def write_latex(document: Document, _medium: Medium) -> str:
    return floats(document)


@renderer("latex")
def render_latex(view: View, surface: Medium) -> str:
    """Metrics stand as they were declared; booktabs, longtable for a long one, and siunitx where it was asked for."""
    return _source(_fitting(view, has_siunitx=surface.has_siunitx), label_of(view))


def table_source(layouts: Sequence[ResultTable], label: str) -> str:
    r"""A further table, in the first of its layouts that has room, else in the last; `label` is what `\ref` takes."""
    found = [_Set(it, size, _columns(it, has_siunitx=False)) for it in layouts for size in SIZES]
    return _source(next((it for it in found if _has_room(it)), found[-1]), label)


def _source(found: _Set, label: str) -> str:
    caption = rf"\caption{{{prose(found.table.caption)}}}\label{{{label}}}"
    use = "in one column" if found.is_long else "with table* for table"
    lines = [
        rf"% For \input in a document that loads {', '.join(found.packages)}; in a paper with two columns, {use}.",
        "% Without their percent signs, the following lines and the last one make it a document of its own:",
        r"% \documentclass{article}",
        rf"% \usepackage{{{','.join(found.packages)}}}",
        r"% \begin{document}",
        *(_long(found, caption) if found.is_long else _float(found, caption)),
        r"% \end{document}",
    ]
    return "\n".join(lines) + "\n"


def _has_room(found: _Set) -> bool:
    return _label_room(found) >= _label_need(found)


def label_of(view: View) -> str:
    r"""What `\ref` finds the table by."""
    slug = re.sub(r"[^a-z0-9]+", "-", view.title.lower())[:LONGEST_LABEL].strip("-")
    return f"tab:{slug or 'results'}"


def packages_of(view: View, *, has_siunitx: bool = False) -> tuple[str, ...]:
    """The packages that the table needs."""
    return _fitting(view, has_siunitx=has_siunitx).packages


def _fitting(view: View, *, has_siunitx: bool) -> _Set:
    """The first layout that a line has room for, in the larger size where it can be; else the narrowest one."""
    found: list[_Set] = []
    for layout in WITH_SIUNITX if has_siunitx else WITHOUT:
        table = result_table(view, as_declared=True, layout=layout)
        columns = _columns(table, has_siunitx=has_siunitx)
        for size in SIZES:
            found.append(_Set(table, size, columns))
            if _has_room(found[-1]):
                return found[-1]
    return found[-1]


def _label_need(found: _Set) -> float:
    heads = [width_pt(header, found.size) for header in (found.table.headers[:1])]
    rows = [_indent(found, it) + width_pt(it.label, found.size) for it in found.table.rows if not it.is_heading]
    return max([*heads, *rows], default=0.0)


def _label_room(found: _Set) -> float:
    """What the other columns leave of a line."""
    n = len(found.columns) - 1
    taken = sum(_width(found, index) for index in range(n))
    return LINE_PT - taken - 2 * SEPARATION_PT * n


def _width(found: _Set, index: int) -> float:
    table, size = found.table, found.size
    heads = [width_pt(it[index + 1], size) for it in (table.headers, table.more_headers) if it]
    reserved = width_pt(widest_number(found.columns[index + 1]), size)
    noted = max((_notes_width(row.cells[index], size) for row in table.rows), default=0.0)
    return max([*heads, *(_cell_width(row.cells[index], size) for row in table.rows), reserved + noted])


def _cell_width(cell: TableCell, size: str) -> float:
    shown = width_pt(cell.text.replace(" … ", ", "), size) * (BOLD if cell.is_best else 1)
    return shown + _notes_width(cell, size)


def _notes_width(cell: TableCell, size: str) -> float:
    return 0.8 * width_pt(",".join(map(str, cell.notes)), size)


def _indent(found: _Set, row: TableRow) -> float:
    return QUAD_PT if row.label and not row.begins and any(it.is_heading for it in found.table.rows) else 0.0


def _columns(table: ResultTable, *, has_siunitx: bool) -> tuple[str, ...]:
    cells = list(zip(*(row.cells for row in table.rows), strict=True)) or [()] * (len(table.headers) - 1)
    types = []
    for header, column in zip(table.headers[1:], cells, strict=True):
        numbers = number_column(column) if has_siunitx and header in ALIGNED else ""
        is_text = any(it.text and not it.is_figure for it in column)
        types.append(numbers or ("l" if is_text or header.startswith("[") else "r"))
    return ("l", *types)


def _float(found: _Set, caption: str) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"  \centering\emergencystretch=3em"
    yield rf"  {caption}\medskip"
    yield rf"  \{found.size}\setlength{{\tabcolsep}}{{{SEPARATION_PT:g}pt}}"
    yield rf"  \begin{{tabular}}{{@{{}}{_types(found)}@{{}}}}"
    yield r"    \toprule"
    yield from (f"    {line}" for line in _head(found))
    yield r"    \midrule"
    yield from (f"    {line}" for line in _body(found))
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield from (f"  {line}" for line in _footnotes(found.table))
    yield r"\end{table}"


def _long(found: _Set, caption: str) -> Iterator[str]:
    yield rf"\begingroup\emergencystretch=3em\{found.size}\setlength{{\tabcolsep}}{{{SEPARATION_PT:g}pt}}"
    yield rf"\begin{{longtable}}{{@{{}}{_types(found)}@{{}}}}"
    yield rf"  {caption}\\"
    yield r"  \toprule"
    yield from (f"  {line}" for line in _head(found))
    yield r"  \midrule"
    yield r"  \endhead"
    yield r"  \bottomrule"
    yield r"  \endfoot"
    yield from (f"  {line}" for line in _body(found))
    yield r"\end{longtable}"
    yield from _footnotes(found.table)
    yield r"\endgroup"


def _types(found: _Set) -> str:
    """Uncertainties are written out, signs of differences kept: by keys that versions 2 and 3 of siunitx know."""
    written = [found.columns[0]]
    for index, column in enumerate(found.columns[1:]):
        marks = max((_marks(row.cells[index]) for row in found.table.rows), key=len, default="")
        room = f",table-space-text-post={{{marks}}}" if marks else ""
        written.append(f"{column[:-1]},{KEYS}{room}]" if column.startswith("S") else column)
    return "".join(written)


def _head(found: _Set) -> Iterator[str]:
    for headers in filter(None, (found.table.headers, found.table.more_headers)):
        written = (_braced(escape(it), kind) for it, kind in zip(headers, found.columns, strict=True))
        yield rf"{' & '.join(written)} \\"


def _braced(text: str, column: str) -> str:
    return f"{{{text}}}" if column.startswith("S") and text else text


def _body(found: _Set) -> Iterator[str]:
    room = _label_room(found)
    for index, row in enumerate(found.table.rows):
        is_apart = row.is_heading or (row.begins and found.table.more_headers)
        if index and is_apart:
            yield r"\addlinespace"
        if row.is_heading:
            name = escape(fitted(row.label, LINE_PT, found.size))
            yield rf"\multicolumn{{{len(found.columns)}}}{{@{{}}l}}{{\itshape {name}}} \\"
            continue
        indent = _indent(found, row)
        label = f"{QUAD if indent else ''}{escape(fitted(row.label, room - indent, found.size))}"
        cells = (_cell(it, kind) for it, kind in zip(row.cells, found.columns[1:], strict=True))
        yield rf"{' & '.join((label, *cells))} \\"


def _cell(cell: TableCell, column: str) -> str:
    marks = _marks(cell)
    if column.startswith("S"):
        if is_number(cell.text):
            bold = r"\bfseries " if cell.is_best else ""
            return f"{bold}{number_text(cell.text)}{f'{{{marks}}}' if marks else ''}"
        return _braced(f"{figure(cell.text)}{marks}", column)
    text = figure(cell.text) if cell.is_figure else escape(cell.text)
    return rf"{{\bfseries\boldmath {text}}}{marks}" if cell.is_best else f"{text}{marks}"


def _marks(cell: TableCell) -> str:
    return rf"\textsuperscript{{{','.join(map(str, cell.notes))}}}" if cell.notes else ""


def _footnotes(table: ResultTable) -> Iterator[str]:
    if table.footnotes:
        yield r"\par\smallskip\begingroup\footnotesize\raggedright"
        for number, text in enumerate(table.footnotes, start=1):
            yield rf"\textsuperscript{{{number}}} {prose(shorten(text, LONGEST_NOTE))}\par"
        yield r"\endgroup"
