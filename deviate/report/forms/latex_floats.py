r"""The tables of a document as LaTeX: booktabs, for `\input`, and with its comments taken away a whole document."""

import re
from collections.abc import Iterable, Iterator, Sequence

from deviate.report.document import LONGEST_NUMBER, Absent, Document, Entry, Table
from deviate.report.forms.tex import escape, prose, typeset
from deviate.report.numbers import TO

LONGEST_LABEL = 60
LONGEST_WORDS = 16
"""Letters of a cell with several words, beyond which it breaks."""
N_LETTERS, GAP = 78, 1.5
"""Letters of a line in this size, and what stands between two columns, in letters."""


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
    return standalone(("booktabs",), "with table* for table", body)


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


def _plain_float(table: Table, label: str, notes: tuple[str, ...]) -> Iterator[str]:
    caption = " ".join((f"{table.caption}.", *notes))
    yield r"\begin{table}"
    yield rf"  \centering\emergencystretch=3em\caption{{{prose(caption)}}}\label{{{label}}}\medskip"
    yield r"  \footnotesize\setlength{\tabcolsep}{3pt}"
    yield rf"  \begin{{tabular}}{{@{{}}l{_plain_columns(table)}@{{}}}}"
    yield r"    \toprule"
    yield f"    {' & '.join(map(escape, table.columns))} \\\\"
    yield r"    \midrule"
    for row in table.rows:
        yield f"    {' & '.join((escape(row.label), *map(_plain_cell, row.cells)))} \\\\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _plain_columns(table: Table) -> str:
    """Column types: numbers right-aligned; columns of sentences are wrapped and share the remaining width."""
    texts = [[row.cells[at].text for row in table.rows] for at in range(len(table.columns) - 1)]
    is_wide = [
        any(len(text) > (LONGEST_WORDS if " " in text else LONGEST_NUMBER) for text in column) for column in texts
    ]
    narrow = [[head, *column] for head, column, wide in zip(table.columns[1:], texts, is_wide, strict=True) if not wide]
    lengths = [
        max(map(len, column), default=0) for column in ([table.columns[0], *(row.label for row in table.rows)], *narrow)
    ]
    remaining = 1.0 - (sum(lengths) + GAP * (len(table.columns) - 1)) / N_LETTERS
    words = [_longest_word(column) / N_LETTERS if wide else 0.0 for column, wide in zip(texts, is_wide, strict=True)]
    spare = max(0.0, remaining - sum(words)) / max(1, sum(is_wide))
    widths = zip(words, is_wide, strict=True)
    return "".join(f"p{{{word + spare:.2f}\\linewidth}}" if wide else "r" for word, wide in widths)


def _longest_word(column: list[str]) -> int:
    return max(len(word) for text in column for word in text.split())


def _plain_cell(entry: Entry) -> str:
    if isinstance(entry, Absent):
        return escape(entry.reason)
    if TO in entry.pieces:
        return typeset(("[", *entry.pieces, "]"))
    return typeset(entry.pieces) if entry.is_number else escape(entry.text)
