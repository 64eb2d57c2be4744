"""A sheet as Markdown, for a pull request or a notebook."""

import re
from collections.abc import Iterator, Sequence

from deviate.report.form_registry import Medium
from deviate.report.format import clean
from deviate.report.forms.markdown import escape
from deviate.report.forms.sheet.forms import sheet_form
from deviate.report.view.answer import Answer, Excerpt, Remark
from deviate.report.view.sheet import Sheet, SheetSection, SheetTable


@sheet_form("markdown")
def render_markdown(sheet: Sheet, _surface: Medium) -> str:
    """What was found first, then the tables, then what a reader must know of them."""
    blocks = [f"### {escape(sheet.title)}", escape(sheet.subtitle)]
    blocks += _answer(sheet.answer) if sheet.answer is not None else [f"> {escape(it)}" for it in sheet.paste]
    for section in sheet.sections:
        told = list(_section(section))
        if told or section.absent:
            heading = f"**{escape(section.heading)}**"
            blocks += [f"{heading}: {escape(section.absent)}" if section.absent else heading, *told]
    blocks += ["\n".join(f"- Warning: {escape(it)}" for it in sheet.warnings)]
    blocks += ["\n".join(f"- {escape(it)}" for it in sheet.footnotes)]
    return "\n\n".join(it for it in blocks if it) + "\n"


def _section(section: SheetSection) -> Iterator[str]:
    """All of it but the figures."""
    yield from (escape(it) for it in section.sentences)
    yield from (_table(it) for it in section.tables)
    for excerpt in section.excerpts:
        yield from _excerpt(excerpt)
    for remark in section.remarks:
        yield from _remark(remark)
    if section.limits:
        yield "\n".join(f"- {escape(it)}" for it in section.limits)


def _answer(answer: Answer) -> Iterator[str]:
    """The words of it, a point per line, then code of several lines."""
    yield f"**{escape(answer.word)}** {escape(answer.rest)}"
    rows = []
    for it in answer.points:
        code = "" if "\n" in it.code else _inline(it.code)
        rows.append(" ".join(filter(None, (f"- **{escape(it.label)}**", escape(it.text), code))))
    yield "\n".join(rows)
    yield from (_fenced(it.code.splitlines()) for it in answer.points if "\n" in it.code)


def _inline(code: str) -> str:
    """Code among words: between more ticks than it has."""
    text = clean(code).strip()
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    air = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{air}{text}{air}{ticks}" if text else ""


def _fenced(lines: Sequence[str]) -> str:
    """Code as a block, whatever it holds."""
    text = "\n".join(map(clean, lines))
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks}\n{text}\n{ticks}"


def _excerpt(it: Excerpt) -> Iterator[str]:
    yield escape(it.caption)
    yield _fenced([f"{'>' if line.is_meant else ' '} {line.number}  {line.text}".rstrip() for line in it.lines])


def _remark(it: Remark) -> Iterator[str]:
    yield f"**{escape(it.title)}** ({escape(it.label)})"
    yield from map(escape, it.sentences)
    yield from (_fenced(code.splitlines()) for code in it.codes)
    yield from [f"Source: {escape(it.source)}"] * bool(it.source)


def _table(table: SheetTable) -> str:
    heads = "".join(f" {escape(it)} |" for it in (table.first, *table.headers))
    lines = [f"|{heads}", f"| --- |{' ---: |' * len(table.headers)}"]
    for row in table.rows:
        cells = "".join(f" {escape(cell.text)} |" for cell in row.cells)
        lines.append(f"| {escape(row.label)} |{cells}")
    notes = [f"{escape(row.label)}: {escape(row.note)}" for row in table.rows if row.note]
    return "\n".join(lines) + ("\n\n" + "; ".join(notes) if notes else "")
