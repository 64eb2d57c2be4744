r"""LaTeX tables with booktabs, for `\input`; without the comment signs at the top the file is a complete document."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from deviate.report.document import (
    LONGEST_NUMBER,
    NOTHING,
    Absent,
    Cell,
    Document,
    DocumentTable,
    Entry,
    Layout,
    Report,
    TableRow,
    is_words,
)
from deviate.report.format import shorten
from deviate.report.forms.registry import document_form
from deviate.report.forms.siunitx import NumberColumn, is_number, number_column, number_text
from deviate.report.forms.tex import SIZES, escape, fit_text, prose, typeset, width_pt
from deviate.report.medium import Medium
from deviate.report.numbers import TO

MOST_ROWS = 40
"""More rows than this break over pages, which a float does not."""
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
    """Layout of a table: font size, and a column type for each column, beginning with that of labels."""

    table: DocumentTable
    size: str
    columns: tuple[str | NumberColumn, ...]

    @property
    def is_long(self) -> bool:
        return len(self.table.rows) > MOST_ROWS

    @property
    def packages(self) -> tuple[str, ...]:
        has_numbers = any(isinstance(column, NumberColumn) for column in self.columns)
        return ("booktabs", *(["longtable"] if self.is_long else []), *(["siunitx"] if has_numbers else []))


@document_form("latex")
def render_latex(document: Document, medium: Medium) -> str:
    """Render the results table; with booktabs, longtable if long, siunitx on request."""
    if isinstance(document, Report):
        return _source(_fitting(document, has_siunitx=medium.has_siunitx), label_of(document))
    return floats(document)


def table_source(layouts: Sequence[DocumentTable], label: str) -> str:
    r"""A further table in its first layout that fits, else in the last one; `label` is the label for `\ref`."""
    settings = [_Set(table, size, _columns(table, has_siunitx=False)) for table in layouts for size in SIZES]
    return _source(next((setting for setting in settings if _has_room(setting)), settings[-1]), label)


def _source(setting: _Set, label: str) -> str:
    caption = rf"\caption{{{prose(setting.table.caption)}}}\label{{{label}}}"
    use = "in one column" if setting.is_long else "with table* for table"
    body = _long(setting, caption) if setting.is_long else _float(setting, caption)
    return standalone(setting.packages, use, body)


def _has_room(setting: _Set) -> bool:
    return _label_room(setting) >= _label_need(setting)


def packages_of(report: Report, *, has_siunitx: bool = False) -> tuple[str, ...]:
    """The packages that the table needs."""
    return _fitting(report, has_siunitx=has_siunitx).packages


def _fitting(report: Report, *, has_siunitx: bool) -> _Set:
    """The first layout that fits a line, in the larger font size if possible; else the narrowest layout."""
    settings: list[_Set] = []
    for layout in WITH_SIUNITX if has_siunitx else WITHOUT:
        table = report.results(layout=layout)
        columns = _columns(table, has_siunitx=has_siunitx)
        for size in SIZES:
            settings.append(_Set(table, size, columns))
            if _has_room(settings[-1]):
                return settings[-1]
    return settings[-1]


def _label_need(setting: _Set) -> float:
    heads = [width_pt(header, setting.size) for header in (setting.table.columns[:1])]
    rows = [
        _indent(setting, row) + width_pt(row.label, setting.size) for row in setting.table.rows if not row.is_heading
    ]
    return max([*heads, *rows], default=0.0)


def _label_room(setting: _Set) -> float:
    """The width that other columns leave for labels."""
    n = len(setting.columns) - 1
    used_width = sum(_width(setting, index) for index in range(n))
    return LINE_PT - used_width - 2 * SEPARATION_PT * n


def _width(setting: _Set, index: int) -> float:
    table, size = setting.table, setting.size
    heads = [width_pt(columns[index + 1], size) for columns in (table.columns, table.second_columns) if columns]
    column = setting.columns[index + 1]
    reserved = width_pt(column.widest, size) if isinstance(column, NumberColumn) else 0.0
    noted = max((_notes_width(row.cells[index], size) for row in table.rows), default=0.0)
    return max([*heads, *(_cell_width(row.cells[index], size) for row in table.rows), reserved + noted])


def _cell_width(entry: Entry, size: str) -> float:
    is_best = isinstance(entry, Cell) and entry.is_best
    text = NOTHING if isinstance(entry, Absent) else entry.text.replace(TO, ", ")
    return width_pt(text, size) * (BOLD if is_best else 1) + _notes_width(entry, size)


def _notes_width(entry: Entry, size: str) -> float:
    return 0.8 * width_pt(",".join(map(str, entry.marks)), size)


def _indent(setting: _Set, row: TableRow) -> float:
    return QUAD_PT if row.label and not row.begins and any(row.is_heading for row in setting.table.rows) else 0.0


def _columns(table: DocumentTable, *, has_siunitx: bool) -> tuple[str | NumberColumn, ...]:
    entries = list(zip(*(row.cells for row in table.rows), strict=True)) or [()] * (len(table.columns) - 1)
    types: list[str | NumberColumn] = ["l"]
    for header, column in zip(table.columns[1:], entries, strict=True):
        numbers = number_column(column) if has_siunitx and header in ALIGNED else None
        has_words = any(is_words(entry) for entry in column)
        types.append(numbers or ("l" if has_words or header.startswith("[") else "r"))
    return tuple(types)


def _float(setting: _Set, caption: str) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"  \centering\emergencystretch=3em"
    yield rf"  {caption}\medskip"
    yield rf"  \{setting.size}\setlength{{\tabcolsep}}{{{SEPARATION_PT:g}pt}}"
    yield from _tabular(_types(setting), _head(setting), _body(setting))
    yield from (f"  {line}" for line in _footnotes(setting.table))
    yield r"\end{table}"


def _tabular(types: str, head: Iterable[str], body: Iterable[str]) -> Iterator[str]:
    name, width = ("tabularx", r"{\linewidth}") if WRAPPED in types else ("tabular", "")
    yield rf"  \begin{{{name}}}{width}{{@{{}}{types}@{{}}}}"
    yield r"    \toprule"
    yield from (f"    {line}" for line in head)
    yield r"    \midrule"
    yield from (f"    {line}" for line in body)
    yield r"    \bottomrule"
    yield rf"  \end{{{name}}}"


def _long(setting: _Set, caption: str) -> Iterator[str]:
    yield rf"\begingroup\emergencystretch=3em\{setting.size}\setlength{{\tabcolsep}}{{{SEPARATION_PT:g}pt}}"
    yield rf"\begin{{longtable}}{{@{{}}{_types(setting)}@{{}}}}"
    yield rf"  {caption}\\"
    yield r"  \toprule"
    yield from (f"  {line}" for line in _head(setting))
    yield r"  \midrule"
    yield r"  \endhead"
    yield r"  \bottomrule"
    yield r"  \endfoot"
    yield from (f"  {line}" for line in _body(setting))
    yield r"\end{longtable}"
    yield from _footnotes(setting.table)
    yield r"\endgroup"


def _types(setting: _Set) -> str:
    """Column types that write uncertainties out and keep signs, with keys that siunitx 2 and 3 support."""
    written_types = ["l"]
    for index, column in enumerate(setting.columns[1:]):
        if isinstance(column, str):
            written_types.append(column)
            continue
        marks = max((_marks(row.cells[index]) for row in setting.table.rows), key=len, default="")
        room = f",table-space-text-post={{{marks}}}" if marks else ""
        written_types.append(f"{column.type},{KEYS}{room}]")
    return "".join(written_types)


def _head(setting: _Set) -> Iterator[str]:
    for headers in filter(None, (setting.table.columns, setting.table.second_columns)):
        heads = (_brace(escape(header), column) for header, column in zip(headers, setting.columns, strict=True))
        yield rf"{' & '.join(heads)} \\"


def _brace(text: str, column: str | NumberColumn) -> str:
    return f"{{{text}}}" if isinstance(column, NumberColumn) and text else text


def _body(setting: _Set) -> Iterator[str]:
    room = _label_room(setting)
    for index, row in enumerate(setting.table.rows):
        is_apart = row.is_heading or (row.begins and setting.table.second_columns)
        if index and is_apart:
            yield r"\addlinespace"
        if row.is_heading:
            name = escape(fit_text(row.label, LINE_PT, setting.size))
            yield rf"\multicolumn{{{len(setting.columns)}}}{{@{{}}l}}{{\itshape {name}}} \\"
            continue
        indent = _indent(setting, row)
        label = f"{QUAD if indent else ''}{escape(fit_text(row.label, room - indent, setting.size))}"
        cells = (_cell(entry, column) for entry, column in zip(row.cells, setting.columns[1:], strict=True))
        yield rf"{' & '.join((label, *cells))} \\"


def _cell(entry: Entry, column: str | NumberColumn) -> str:
    marks = _marks(entry)
    if isinstance(entry, Absent):
        return _brace(f"---{marks}", column)
    if isinstance(column, NumberColumn) and is_number(entry):
        bold = r"\bfseries " if entry.is_best else ""
        return f"{bold}{number_text(entry)}{f'{{{marks}}}' if marks else ''}"
    text = typeset(entry.pieces)
    if isinstance(column, NumberColumn):
        return _brace(f"{text}{marks}", column)
    return rf"{{\bfseries\boldmath {text}}}{marks}" if entry.is_best else f"{text}{marks}"


def _marks(entry: Entry) -> str:
    return rf"\textsuperscript{{{','.join(map(str, entry.marks))}}}" if entry.marks else ""


def _footnotes(table: DocumentTable) -> Iterator[str]:
    if table.footnotes:
        yield r"\par\smallskip\begingroup\footnotesize\raggedright"
        for number, text in enumerate(table.footnotes, start=1):
            yield rf"\textsuperscript{{{number}}} {prose(shorten(text, LONGEST_NOTE))}\par"
        yield r"\endgroup"


# The tables of any other document: booktabs alone, floats, numbers right-aligned and sentences wrapped.

LONGEST_LABEL = 60
LONGEST_WORDS = 16
"""Letters of a cell with several words, beyond which it breaks."""
WRAPPED = r">{\raggedright\arraybackslash}X"
"""A column that shares the width that is left."""


def floats(document: Document) -> str:
    """Tables as floats; the caption of the first has the answer and the footnotes."""
    tables = [table for section in document.sections for table in section.tables]
    body: list[str] = []
    notes = (*(document.paste if document.answer is not None else ()), *document.footnotes)
    for number, table in enumerate(tables):
        label = label_of(document) + (f"-{number + 1}" if number else "")
        body += _plain_float(table, label, notes if not number else ())
    if not tables:
        body += [prose(sentence) for sentence in document.paste]
    has_wrapped = any(WRAPPED in line for line in body)
    return standalone(("booktabs", *(["tabularx"] if has_wrapped else [])), "with table* for table", body)


def label_of(document: Document) -> str:
    r"""What `\ref` finds the first table by."""
    slug = re.sub(r"[^a-z0-9]+", "-", document.title.lower())[:LONGEST_LABEL].strip("-")
    return f"tab:{slug or 'results'}"


def standalone(packages: Sequence[str], use: str, body: Iterable[str]) -> str:
    """The body between comments that make it a document of its own; `use` says how a paper in two columns takes it."""
    lines = [
        rf"% For \input in a document that loads {', '.join(packages)}; in a paper with two columns, {use}.",
        "% Without their percent signs, the following lines and the last one make it a document of its own:",
        r"% \documentclass{article}",
        rf"% \usepackage{{{','.join(packages)}}}",
        r"% \begin{document}",
        *body,
        r"% \end{document}",
    ]
    return "\n".join(lines) + "\n"


def _plain_float(table: DocumentTable, label: str, notes: tuple[str, ...]) -> Iterator[str]:
    caption = " ".join((f"{table.caption}.", *notes))
    yield r"\begin{table}"
    yield rf"  \centering\emergencystretch=3em\caption{{{prose(caption)}}}\label{{{label}}}\medskip"
    yield r"  \footnotesize\setlength{\tabcolsep}{3pt}"
    rows = ([escape(row.label), *map(_plain_cell, row.cells)] for row in table.rows)
    head, *body = (rf"{' & '.join(cells)} \\" for cells in (map(escape, table.columns), *rows))
    yield from _tabular(f"l{_plain_columns(table)}", [head], body)
    yield r"\end{table}"


def _plain_columns(table: DocumentTable) -> str:
    """Column types: numbers right-aligned; columns of sentences are wrapped and share the remaining width."""
    columns = zip(*(row.cells for row in table.rows), strict=True)
    texts = [[entry.text for entry in column] for column in columns] or [[] for _ in table.columns[1:]]
    is_wide = (any(len(text) > (LONGEST_WORDS if " " in text else LONGEST_NUMBER) for text in some) for some in texts)
    return "".join(WRAPPED if wide else "r" for wide in is_wide)


def _plain_cell(entry: Entry) -> str:
    if isinstance(entry, Absent):
        return escape(entry.reason)
    if TO in entry.pieces:
        return typeset(("[", *entry.pieces, "]"))
    return typeset(entry.pieces) if entry.is_number else escape(entry.text)
