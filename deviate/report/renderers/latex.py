r"""The table of results as LaTeX: booktabs, for `\input`, and with its comments taken away a whole document."""

import re
from collections.abc import Iterator

from deviate.report.renderers.registry import Surface, renderer
from deviate.report.table import ResultTable, TableCell, TableRow, result_table
from deviate.report.tex import escape, figure
from deviate.report.view import View

MOST_ROWS = 40
"""More rows than this break over pages, which a float does not."""
LONGEST_LABEL = 60


@renderer("latex")
def render_latex(view: View, _surface: Surface) -> str:
    """Metrics stand as they were declared; nothing but the booktabs package is needed, and longtable for long ones."""
    table = result_table(view, as_declared=True)
    is_long = len(table.rows) > MOST_ROWS
    packages = "booktabs,longtable" if is_long else "booktabs"
    label = re.sub(r"[^a-z0-9]+", "-", view.title.lower())[:LONGEST_LABEL].strip("-") or "results"
    caption = rf"\caption{{{escape(table.caption)}}}\label{{tab:{label}}}"
    lines = [
        rf"% For \input in a document that loads {packages.replace(',', ' and ')}. Without their percent signs, the",
        "% following lines and the last one make it a document of its own:",
        r"% \documentclass{article}",
        rf"% \usepackage{{{packages}}}",
        r"% \begin{document}",
        *(_long(table, caption) if is_long else _float(table, caption)),
        r"% \end{document}",
    ]
    return "\n".join(lines) + "\n"


def _float(table: ResultTable, caption: str) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"  \centering"
    yield f"  {caption}"
    yield rf"  \begin{{tabular}}{{{_columns(table)}}}"
    yield r"    \toprule"
    yield f"    {_head(table)}"
    yield r"    \midrule"
    yield from (f"    {line}" for line in _body(table))
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield from (f"  {line}" for line in _footnotes(table))
    yield r"\end{table}"


def _long(table: ResultTable, caption: str) -> Iterator[str]:
    yield rf"\begin{{longtable}}{{{_columns(table)}}}"
    yield rf"  {caption}\\"
    yield r"  \toprule"
    yield f"  {_head(table)}"
    yield r"  \midrule"
    yield r"  \endhead"
    yield r"  \bottomrule"
    yield r"  \endfoot"
    yield from (f"  {line}" for line in _body(table))
    yield r"\end{longtable}"
    yield from _footnotes(table)


def _columns(table: ResultTable) -> str:
    cells = zip(*(row.cells for row in table.rows), strict=True)
    figures = ["r" if any(cell.is_figure and cell.text for cell in column) else "l" for column in cells]
    return "".join(("l", *(figures or "r" * (len(table.headers) - 1))))


def _head(table: ResultTable) -> str:
    return rf"{' & '.join(escape(header) for header in table.headers)} \\"


def _body(table: ResultTable) -> Iterator[str]:
    is_grouped = not all(row.begins for row in table.rows)
    for index, row in enumerate(table.rows):
        if index and row.begins and is_grouped:
            yield r"\addlinespace"
        yield rf"{' & '.join((_label(row), *map(_cell, row.cells)))} \\"


def _label(row: TableRow) -> str:
    return escape(row.label) if row.begins or not row.label else rf"\quad {escape(row.label)}"


def _cell(cell: TableCell) -> str:
    text = figure(cell.text) if cell.is_figure else escape(cell.text)
    marks = rf"\textsuperscript{{{','.join(map(str, cell.notes))}}}" if cell.notes else ""
    return rf"{{\bfseries\boldmath {text}}}{marks}" if cell.is_best else f"{text}{marks}"


def _footnotes(table: ResultTable) -> Iterator[str]:
    if table.footnotes:
        yield r"\par\smallskip\begingroup\footnotesize\raggedright"
        for number, text in enumerate(table.footnotes, start=1):
            yield rf"\textsuperscript{{{number}}} {escape(text)}\par"
        yield r"\endgroup"
