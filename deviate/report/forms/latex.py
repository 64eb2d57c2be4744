r"""LaTeX tables with booktabs, for `\input`; without the comment signs at the top the file is a complete document."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from deviate.report.document import LONGEST_NUMBER, Absent, Document, DocumentTable, Entry, Report, is_words
from deviate.report.format import shorten
from deviate.report.forms.registry import document_form
from deviate.report.forms.siunitx import NumberColumn, number_column, number_text
from deviate.report.forms.tex import escape, prose, typeset
from deviate.report.medium import Medium

MOST_ROWS = 40
"""Rows of a float; those of a longer table go on in further floats."""
LONGEST_NOTE = 400
LONGEST_LABEL = 60
KEYS = "separate-uncertainty,retain-explicit-plus,group-minimum-digits=12,detect-weight"
WRAPPED = r">{\raggedright\arraybackslash}X"
"""A column of sentences, which shares the width that is left."""
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""As wide as it is, or as the line where that is less."""
PACKAGES = {"booktabs": r"\toprule", "graphicx": r"\resizebox", "tabularx": "{tabularx}", "siunitx": "S["}
"""Each with what it is needed for."""


@document_form("latex")
def render_latex(document: Document, medium: Medium) -> str:
    """The table of results of a report, with siunitx on request; of any other document all tables, as floats."""
    if isinstance(document, Report):
        return table_source(document.results(), label_of(document), has_siunitx=medium.has_siunitx)
    body: list[str] = []
    notes = (*(document.paste if document.answer is not None else ()), *document.footnotes)
    tables = [table for section in document.sections for table in section.tables]
    for number, table in enumerate(tables, start=1):
        label = label_of(document) + (f"-{number}" if number > 1 else "")
        whole = replace(table, caption=" ".join((f"{table.caption}.", *(notes if number == 1 else ()))))
        body += _floats(whole, label, has_siunitx=False)
    return standalone(body or [prose(sentence) for sentence in document.paste])


def table_source(table: DocumentTable, label: str, *, has_siunitx: bool = False) -> str:
    r"""One table; `label` is the label for `\ref`."""
    return standalone(_floats(table, label, has_siunitx=has_siunitx))


def label_of(document: Document) -> str:
    r"""What `\ref` finds the first table by."""
    slug = re.sub(r"[^a-z0-9]+", "-", document.title.lower())[:LONGEST_LABEL].strip("-")
    return f"tab:{slug or 'results'}"


def packages_of(source: str) -> tuple[str, ...]:
    """The packages that tables need."""
    return tuple(name for name, sign in PACKAGES.items() if sign in source)


def standalone(body: Iterable[str]) -> str:
    """The body between comments that make it a document of its own."""
    text = "\n".join(body)
    packages = packages_of(text)
    lines = [
        rf"% For \input in a document that loads {', '.join(packages)};",
        "% in a paper with two columns, with table* for table.",
        "% Without their percent signs, the following lines and the last one make it a document of its own:",
        r"% \documentclass{article}",
        rf"% \usepackage{{{','.join(packages)}}}",
        r"% \begin{document}",
        text,
        r"% \end{document}",
    ]
    return "\n".join(lines) + "\n"


def _floats(table: DocumentTable, label: str, *, has_siunitx: bool) -> Iterator[str]:
    parts = [table.rows[begin : begin + MOST_ROWS] for begin in range(0, len(table.rows), MOST_ROWS)] or [()]
    for index, rows in enumerate(parts):
        caption = rf"\caption{{{prose(table.caption)}}}\label{{{label}}}"
        if index:
            caption = rf"\caption{{Continued from Table~\ref{{{label}}}.}}"
        footnotes = table.footnotes if rows == parts[-1] else ()
        yield r"\begin{table}"
        yield rf"  \centering\emergencystretch=3em{caption}\medskip"
        yield r"  \small\setlength{\tabcolsep}{3pt}"
        yield from _tabular(replace(table, rows=rows), has_siunitx=has_siunitx)
        yield from _footnotes(footnotes)
        yield r"\end{table}"


def _tabular(table: DocumentTable, *, has_siunitx: bool) -> Iterator[str]:
    columns = [
        "l",
        *(
            _column([row.cells[index] for row in table.rows], has_siunitx=has_siunitx)
            for index in range(len(table.columns) - 1)
        ),
    ]
    types = "".join(map(str, columns))
    is_wrapped = WRAPPED in types
    name, width = ("tabularx", r"{\linewidth}") if is_wrapped else ("tabular", "")
    heads = (_brace(escape(head), column) for head, column in zip(table.columns, columns, strict=True))
    yield from [] if is_wrapped else [f"  {FITTED}"]
    yield rf"  \begin{{{name}}}{width}{{@{{}}{types}@{{}}}}"
    yield r"    \toprule"
    yield rf"    {' & '.join(heads)} \\"
    yield r"    \midrule"
    yield from (f"    {line}" for line in _body(table, columns))
    yield r"    \bottomrule"
    yield rf"  \end{{{name}}}{'' if is_wrapped else '}'}"


def _column(entries: Sequence[Entry], *, has_siunitx: bool) -> str | NumberColumn:
    """Numbers are aligned right, or at the point by siunitx; words are aligned left, and sentences wrapped."""
    words = [entry.text for entry in entries if is_words(entry) or (isinstance(entry, Absent) and not entry.marks)]
    if any(len(text) > LONGEST_NUMBER for text in words):
        return WRAPPED
    numbers = number_column(entries, KEYS, max(map(_marks, entries), key=len, default="")) if has_siunitx else None
    return numbers or ("l" if words else "r")


def _brace(text: str, column: str | NumberColumn) -> str:
    return f"{{{text}}}" if isinstance(column, NumberColumn) and text else text


def _body(table: DocumentTable, columns: Sequence[str | NumberColumn]) -> Iterator[str]:
    has_headings = any(row.is_heading for row in table.rows)
    has_groups = any(not row.begins for row in table.rows)
    for index, row in enumerate(table.rows):
        if index and has_groups and row.begins:
            yield r"\addlinespace"
        if row.is_heading:
            yield rf"\multicolumn{{{len(columns)}}}{{@{{}}l}}{{\itshape {escape(row.label)}}} \\"
            continue
        label = (r"\quad " if has_headings else "") + escape(row.label)
        cells = (_cell(entry, column) for entry, column in zip(row.cells, columns[1:], strict=True))
        yield rf"{' & '.join((label, *cells))} \\"


def _cell(entry: Entry, column: str | NumberColumn) -> str:
    marks = _marks(entry)
    if isinstance(entry, Absent):
        return _brace(f"---{marks}" if marks else escape(entry.reason), column)
    if isinstance(column, NumberColumn) and (text := number_text(entry)):
        number, rest = text
        bold, behind = r"\bfseries " if entry.is_best else "", f"{typeset(rest)}{marks}"
        return f"{bold}{number}{f'{{{behind}}}' if behind else ''}"
    text_of_cell = typeset(entry.pieces)
    whole = rf"{{\bfseries\boldmath {text_of_cell}}}{marks}" if entry.is_best else f"{text_of_cell}{marks}"
    return _brace(whole, column)


def _marks(entry: Entry) -> str:
    return rf"\textsuperscript{{{','.join(map(str, entry.marks))}}}" if entry.marks else ""


def _footnotes(footnotes: Sequence[str]) -> Iterator[str]:
    if footnotes:
        yield r"  \par\smallskip\begingroup\footnotesize\raggedright"
        for number, text in enumerate(footnotes, start=1):
            yield rf"  \textsuperscript{{{number}}} {prose(shorten(text, LONGEST_NOTE))}\par"
        yield r"  \endgroup"
