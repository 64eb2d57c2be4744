"""The verdict with its sentence to paste and the table of results as Markdown, for a pull request or a notebook."""

import re
from collections.abc import Iterator

from deviate.report.format import clean
from deviate.report.renderers.registry import Surface, renderer
from deviate.report.table import ResultTable, TableCell, TableRow, result_table
from deviate.report.view import VerdictView, View

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
"""An address would notify somebody, which a backslash does not prevent."""
SPECIAL = re.compile(r"[&<>@\\`*|~#$]|\](?=[(\[:])|\[(?=[\^ xX])|(?<![^\W_])_|_(?![^\W_])|(?<=[a-z])://|(?<=www)\.")

FIRST = re.compile(r"^(\d*)([-+=.)])(?=[-+= ]|$)")
"""What would begin a list or draw a line."""


@renderer("markdown")
def render_markdown(view: View, _surface: Surface) -> str:
    """GitHub's Markdown: what was concluded first, then the figures, then what a reader must know of them."""
    table = result_table(view)
    blocks = [f"### {escape(view.title)}"]
    blocks += [_verdict(it) for it in view.verdicts]
    blocks += [escape(view.no_verdict)] if view.no_verdict else []
    blocks += [_list(view.noise.statements)] if view.noise is not None and view.noise.statements else []
    blocks += [f"> {escape(sentence)}" for sentence in view.paste]
    blocks += ["\n".join(_table(table)), escape(table.caption)]
    blocks += ["\n".join(f"{n}. {escape(text)}" for n, text in enumerate(table.footnotes, start=1))]
    blocks += [_list(f"Warning: {text}" for text in view.warnings)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def escape(text: str) -> str:
    r"""Text that Markdown shows as it is: no markup, no link, nobody notified.

    >>> print(escape("test_acc | <b>"), escape("_x_ @me"))
    test_acc \| &lt;b&gt; \_x\_ &#64;me
    """
    escaped = SPECIAL.sub(lambda found: ENTITIES.get(found[0]) or _apart(found[0]), clean(text).strip())
    return FIRST.sub(r"\1\\\2", escaped)


def _apart(special: str) -> str:
    """A sign without its power; of an address, the sign by which it is known."""
    return {"://": "&#58;//", ".": "&#46;"}.get(special, f"\\{special}")


def _verdict(verdict: VerdictView) -> str:
    told = " · ".join(
        escape(part) for part in (f"{verdict.metric} {verdict.change}", verdict.interval, verdict.effect) if part
    )
    reason = escape(f"{verdict.candidate} against {verdict.baseline}: {verdict.reason}.")
    return f"**Verdict: {escape(verdict.word)}** · {told}\n\n{reason} {escape(verdict.detectable)}"


def _table(table: ResultTable) -> Iterator[str]:
    yield _row([escape(header) for header in table.headers])
    columns = zip(*(row.cells for row in table.rows), strict=True)
    figures = [any(cell.is_figure and cell.text for cell in column) for column in columns] or [True] * (
        len(table.headers) - 1
    )
    yield _row(["---", *("---:" if it else "---" for it in figures)])
    for row in table.rows:
        yield _row([_label(row), *map(_cell, row.cells)])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _label(row: TableRow) -> str:
    return escape(row.label) if row.begins or not row.label else f"&nbsp;&nbsp;{escape(row.label)}"


def _cell(cell: TableCell) -> str:
    text = escape(cell.text)
    marks = f"<sup>{','.join(map(str, cell.notes))}</sup>" if cell.notes else ""
    return f"**{text}**{marks}" if cell.is_best else f"{text}{marks}"


def _list(sentences: Iterator[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {escape(sentence)}" for sentence in sentences)
