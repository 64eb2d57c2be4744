"""The verdict, its sentence for pasting and the results table as Markdown, for pull requests and notebooks."""

import re
from collections.abc import Iterable, Iterator, Sequence

from deviate.report.document import (
    NOTHING,
    Absent,
    Answer,
    Block,
    CandidateVerdict,
    Cell,
    Check,
    Document,
    DocumentTable,
    Entry,
    Excerpt,
    Items,
    Remark,
    Report,
    TableRow,
    is_words,
)
from deviate.report.format import clean, counted, shorten
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium

LIMIT = 65_536
"""Characters of the longest comment that GitHub takes."""
OPEN_METRICS = 8
"""So many are seen at once; what follows unfolds."""
MOST_WARNINGS = 20
MOST_ROWS = 60
"""Of a table on stability."""
LONGEST_SENTENCE = 2_000
MARKS = {"passed": "pass", "failed": "**fail**", "error": "**incomplete**", "undecided": "undecided", "absent": "-"}


@document_form("markdown")
def render_markdown(document: Document, _medium: Medium) -> str:
    """Render a document as Markdown: the result first, then what readers need to know about it."""
    match document:
        case Check():
            return _check(document, _report(document.report))
        case Report():
            return _report(document)
    return _document(document)


def _check(check: Check, report: str) -> str:
    """The check as a Markdown table, with advice and the report of the same runs."""
    rows = ["| | check | of | found |", "| --- | --- | --- | --- |"]
    for case in check.cases:
        figures = "; ".join(f"{label} {text}" for label, text in case.figures)
        reason = escape(f"{figures}: {case.reason}" if figures else case.reason)
        rows.append(f"| {MARKS[case.outcome]} | {escape(case.name)} | {escape(case.subject)} | {reason} |")
    advice = "\n".join(f"- {escape(case.headline)}. {escape(case.advice)}" for case in check.cases if case.advice)
    warnings = [warning for warning in check.warnings if warning not in check.report.warnings]
    warning_lines = "\n".join(f"- Warning: {escape(warning)}" for warning in warnings)
    head = f"## deviate check: {escape(check.result)}\n\n**{escape(check.word)}**, exit code {check.code}."
    blocks = [head, "\n".join(rows), advice, warning_lines, report.rstrip()]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _document(document: Document) -> str:
    """The result first, then tables, then notes on them."""
    blocks = [f"### {escape(document.title)}", escape(document.subtitle)]
    blocks += (
        _answer(document.answer)
        if document.answer is not None
        else [f"> {escape(sentence)}" for sentence in document.paste]
    )
    for section in document.sections:
        heading, reasons = f"**{escape(section.heading)}**", " ".join(map(escape, section.reasons))
        written = [text for block in section.blocks for text in _block(block)]
        if written or reasons:
            blocks += [f"{heading}: {reasons}" if reasons else heading, *written]
    blocks += ["\n".join(f"- Warning: {escape(text)}" for text in document.warnings)]
    blocks += ["\n".join(f"- {escape(text)}" for text in document.footnotes)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _block(block: Block) -> Iterator[str]:
    """Lines of a block; reasons are stated in the heading, figures are only on the page."""
    match block:
        case str():
            yield escape(block)
        case DocumentTable():
            yield _grid(block)
        case Excerpt():
            yield escape(block.caption)
            marked = (f"{'>' if line.is_marked else ' '} {line.number}  {line.text}".rstrip() for line in block.lines)
            yield _fence(marked)
        case Remark():
            yield f"**{escape(block.title)}** ({escape(block.label)})"
            yield from map(escape, block.sentences)
            yield from (_fence(code.splitlines()) for code in block.codes)
            yield from [f"Source: {escape(block.source)}"] * bool(block.source)
        case Items():
            yield "\n".join(f"- {escape(text)}" for text in block.sentences)


def _answer(answer: Answer) -> Iterator[str]:
    """The headline, a line per point, then longer code."""
    yield f"**{escape(answer.word)}** {escape(answer.rest)}"
    rows = []
    for point in answer.points:
        code = "" if "\n" in point.code else _inline(point.code)
        rows.append(" ".join(filter(None, (f"- **{escape(point.label)}**", escape(point.text), code))))
    yield "\n".join(rows)
    yield from (_fence(point.code.splitlines()) for point in answer.points if "\n" in point.code)


def _inline(code: str) -> str:
    """Inline code, delimited by more backticks than it contains."""
    text = clean(code).strip()
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    air = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{air}{text}{air}{ticks}" if text else ""


def _fence(lines: Iterable[str]) -> str:
    """A code block, fenced with more backticks than it contains."""
    text = "\n".join(map(clean, lines))
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks}\n{text}\n{ticks}"


def _grid(table: DocumentTable) -> str:
    """A table with its notes below."""
    notes = [f"{escape(row.label)}: {escape(row.note)}" for row in table.rows if row.note]
    return "\n".join(_table(table, [table.rows])) + ("\n\n" + "; ".join(notes) if notes else "")


def _report(report: Report) -> str:
    """The conclusion first, then numbers, then notes.

    What exceeds the length of a comment is left out from the end, with a note.
    """
    table = report.results()
    n_metrics = len(_groups(table))
    for n_shown in (n_metrics, *(n_metrics // 2**k for k in range(1, n_metrics.bit_length() + 1))):
        text = _comment(report, table, n_shown)
        if len(text) <= LIMIT:
            return text
    omission = "\n\nThe rest is left out: it does not fit in a comment.\n"
    return text[: LIMIT - len(omission)].rpartition("\n\n")[0] + omission


def _comment(report: Report, table: DocumentTable, n_shown: int) -> str:
    groups = _groups(table)
    first, folded_groups = groups[: min(n_shown, OPEN_METRICS)], groups[OPEN_METRICS:n_shown]
    blocks = [f"### {_sentence(report.title)}"]
    blocks += [_verdict(verdict) for verdict in report.verdicts]
    blocks += [_sentence(report.no_verdict)] if report.no_verdict else []
    blocks += [_sentence(report.primary)] if report.primary else []
    blocks += [_list(report.said("noise"))]
    blocks += [f"> {_sentence(sentence)}" for sentence in report.paste]
    blocks += ["\n".join(_table(table, first))] if first or not groups else []
    if folded_groups:
        blocks += [f"<details><summary>{counted(len(folded_groups), 'more metric')}</summary>"]
        blocks += ["\n".join(_table(table, folded_groups)), "</details>"]
    if n_shown < len(groups):
        omitted = counted(len(groups) - n_shown, "metric")
        blocks += [f"Left out here: {omitted} of {len(groups)}, which do not fit in a comment; the page has them all."]
    blocks += [_sentence(table.caption)]
    blocks += _stability(report)
    n_notes = max(
        (max(entry.marks, default=0) for group in (*first, *folded_groups) for row in group for entry in row.cells),
        default=0,
    )
    blocks += ["\n".join(f"{n}. {_sentence(text)}" for n, text in enumerate(table.footnotes[:n_notes], start=1))]
    warnings = [f"Warning: {text}" for text in report.warnings[:MOST_WARNINGS]]
    n_more = len(report.warnings) - MOST_WARNINGS
    warnings += [f"{n_more} more warnings are on the page"] if n_more > 0 else []
    blocks += [_list(warnings)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _stability(report: Report) -> list[str]:
    """Introductory sentences, then measures, folded; footnotes are only on the page."""
    if not report.stability:
        return []
    blocks = [f"**Stability**\n\n{_list(report.stability)}"]
    names = {"stability": "Measures of stability", "groups": "Sub-groups"}
    for name, table in report.further().items():
        if len(table.rows) <= MOST_ROWS:
            blocks += [f"<details><summary>{names[name]}</summary>", "\n".join(_table(table, _groups(table)))]
            blocks += [_sentence(table.caption), "</details>"]
    return blocks


def _groups(table: DocumentTable) -> list[list[TableRow]]:
    """The rows of each metric."""
    groups: list[list[TableRow]] = []
    for row in table.rows:
        if row.begins or not groups:
            groups.append([])
        groups[-1].append(row)
    return groups


def _sentence(text: str) -> str:
    return escape(shorten(clean(text), LONGEST_SENTENCE))


def _verdict(verdict: CandidateVerdict) -> str:
    reason = _sentence(f"{verdict.reason[:1].upper()}{verdict.reason[1:]}.")
    return (
        f"**Verdict: {escape(verdict.word)}** · {_sentence(verdict.statement)}\n\n{reason} {escape(verdict.detectable)}"
    )


def _table(table: DocumentTable, groups: Sequence[Sequence[TableRow]]) -> Iterator[str]:
    yield _row([escape(column) for column in table.columns])
    columns = zip(*(row.cells for row in table.rows), strict=True)
    are_numbers = [any(entry.text and not is_words(entry) for entry in column) for column in columns]
    are_numbers = are_numbers or [True] * (len(table.columns) - 1)
    yield _row(["---", *("---:" if is_number else "---" for is_number in are_numbers)])
    has_headings = any(row.is_heading for row in table.rows)
    for row in (row for rows in groups for row in rows):
        yield _row([_label(row, is_inner=has_headings), *map(_cell, row.cells)])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _label(row: TableRow, *, is_inner: bool) -> str:
    if row.is_heading:
        return f"**{escape(row.label)}**"
    return f"&nbsp;&nbsp;{escape(row.label)}" if is_inner else escape(row.label)


def _cell(entry: Entry) -> str:
    text = NOTHING if isinstance(entry, Absent) and entry.marks else escape(entry.text)
    marks = f"<sup>{','.join(map(str, entry.marks))}</sup>" if entry.marks else ""
    return f"**{text}**{marks}" if isinstance(entry, Cell) and entry.is_best else f"{text}{marks}"


def _list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {_sentence(sentence)}" for sentence in sentences)


ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
"""An address would notify somebody, which a backslash does not prevent."""
SPECIAL = re.compile(r"[&<>@\\`*|~#$]|\](?=[(\[:])|\[(?=[\^ xX])|(?<![^\W_])_|_(?![^\W_])|://|(?<=www)\.")

FIRST = re.compile(r"^(\d*)([-+=.)])(?=[-+= ]|$)")
"""What would begin a list or draw a line."""


def escape(text: str) -> str:
    r"""Escape text, so that it has no markup and no links and mentions nobody.

    >>> print(escape("test_acc | <b>"), escape("_x_ @me"))
    test_acc \| &lt;b&gt; \_x\_ &#64;me
    """
    escaped = SPECIAL.sub(lambda match: ENTITIES.get(match[0]) or _apart(match[0]), clean(text).strip())
    return FIRST.sub(r"\1\\\2", escaped)


def _apart(special: str) -> str:
    """Escape a match: the colon or dot of an address by its HTML entity, other characters by a backslash."""
    return {"://": "&#58;//", ".": "&#46;"}.get(special, f"\\{special}")
