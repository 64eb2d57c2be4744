"""Results as a few lines of HTML, which a notebook shows below a cell."""

from collections.abc import Iterator, Sequence
from html import escape

from deviate.report import NOTHING, Absent, Entry, Report, Table


def summary_html(report: Report, notes: Sequence[str] = (), figure: str = "") -> str:
    """Verdict, figure, table and footnotes; what the user's names hold is text.

    Args:
        notes: how the scores were read. figure: markup of ours.
    """
    table = report.results()
    parts = [
        f"<p><strong>Verdict: {escape(it.word)}</strong> {escape(_told(it.metric, it.change, it.interval))}</p>"
        for it in report.verdicts
    ]
    parts += [f"<p>{escape(report.no_verdict)}</p>"] if report.no_verdict else []
    parts += [figure] if figure else []
    parts += ["<table>", *_rows(table), "</table>", f"<p><small>{escape(table.caption)}</small></p>"]
    if table.footnotes:
        parts += ["<ol>", *(f"<li><small>{escape(text)}</small></li>" for text in table.footnotes), "</ol>"]
    parts += [f"<p><small>{escape(note)}</small></p>" for note in notes]
    parts += [f"<p><small>Warning: {escape(text)}</small></p>" for text in report.warnings]
    return "\n".join(["<div>", *parts, "</div>"])


def _told(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _rows(table: Table) -> Iterator[str]:
    yield f"<tr>{''.join(f'<th>{escape(header)}</th>' for header in table.columns)}</tr>"
    for row in table.rows:
        yield f"<tr><td>{escape(row.label)}</td>{''.join(map(_cell, row.cells))}</tr>"


def _cell(entry: Entry) -> str:
    text = NOTHING if isinstance(entry, Absent) else escape(entry.text)
    text = f"<b>{text}</b>" if not isinstance(entry, Absent) and entry.is_best else text
    marks = f"<sup>{','.join(map(str, entry.marks))}</sup>" if entry.marks else ""
    return f"<td>{text}{marks}</td>"
