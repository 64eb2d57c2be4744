"""A document for a terminal: its answer on one screen, or all of its brief; `rich` measures, breaks and aligns."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from deviate.report.document import (
    NOTHING,
    Absent,
    Answer,
    Block,
    Cell,
    Code,
    Document,
    DocumentTable,
    Entry,
    Fact,
    Facts,
    Items,
    Lead,
    Point,
    Remark,
    Section,
    Tone,
    fact,
)
from deviate.report.format import ELLIPSIS, clean, group_pairs
from deviate.report.forms.registry import document_form
from deviate.report.lines import console_of, cut, fill_lines, pad, widest, written
from deviate.report.medium import WHOLE, Medium

NARROWEST = 40
STYLES: dict[Tone, str] = {"good": "bold green", "bad": "bold red", "neutral": "bold", "warning": "bold yellow"}
SHORTEST_LABEL, LONGEST_WORD = 9, 20
GAP = 2
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@document_form("terminal")
def render_terminal(document: Document, medium: Medium) -> str:
    """Lines within the width of the medium; commands, paths and the user's own lines are never broken."""
    console = console_of(replace(medium, width=max(medium.width, NARROWEST)))
    if document.answer is not None:
        word, rest = document.answer.word, screen(document.answer, document.subtitle, document.warnings, console.width)
        style = STYLES[document.answer.tone]
        console.print(Text(word, style) + Text("\n".join(rest).removeprefix(word)), soft_wrap=True)
        return written(console)
    paragraphs: list[list[Block]] = [list(section.blocks) for section in document.brief]
    if not document.brief:
        head: list[Block] = [Lead("", document.title, "neutral", document.subtitle)] if document.title else []
        paragraphs = [head, *map(_with_heading, document.sections), list(document.paste)]
    remarks = [fact("Warning", text, tone="warning") for text in document.warnings if text not in document.notes]
    remarks += [fact("Note", text) for text in document.notes]
    paragraphs += [[Facts(tuple(remarks))]] if remarks else []
    labels = (
        clean(one.label) for blocks in paragraphs for block in blocks if isinstance(block, Facts) for one in block.facts
    )
    column = max(SHORTEST_LABEL + GAP, widest(labels) + 1)
    for number, blocks in enumerate(filter(None, paragraphs)):
        if number:
            console.print()
        for place, block in enumerate(blocks):
            _print(block, console, GAP if place else 0, column)
    return written(console)


def _with_heading(section: Section) -> list[Block]:
    """The blocks of a section below its heading; a reason why there is nothing stands beside it."""
    blocks = [
        f"{section.heading}: {block.reason}" if isinstance(block, Absent) and section.heading else block
        for block in section.blocks
    ]
    is_headed = section.heading and not section.of(Absent)
    return [section.heading, *blocks] if is_headed else blocks


def _print(block: Block, console: Console, margin: int, column: int) -> None:
    """Print a block; figures, excerpts, footnotes and what is folded are only on the page.

    Args:
        margin: of a table. column: in which texts begin that have a label.
    """
    match block:
        case str() | Absent():
            console.print(Text(clean(block if isinstance(block, str) else block.reason)))
        case Lead():
            head = Text(f"{clean(block.label)} ".lstrip()) + Text(clean(block.word), STYLES[block.tone])
            console.print(head + Text(f"{'':{GAP + 1}}{clean(block.rest)}".rstrip()))
        case Items() if block.kind != "footnotes":
            _indent(Text("\n".join(map(clean, block.sentences))), GAP, console)
        case Facts():
            _facts(block.facts, column, console)
        case DocumentTable():
            _table(block, console, margin)
        case Remark():
            _indent(Text(clean(block.title)), GAP, console)
            _indent(Text("\n".join(map(clean, block.sentences))), 3 * GAP, console)
        case Code():
            indent = " " * (SHORTEST_LABEL + GAP)
            console.print(Text("\n".join(indent + clean(line) for line in block.text.splitlines())), soft_wrap=True)
        case Section():
            for inner in _with_heading(block):
                _print(inner, console, margin, column)


def _indent(text: Text | Table, n_columns: int, console: Console) -> None:
    console.print(Padding(text, (0, 0, 0, n_columns), expand=False))


def _facts(facts: Sequence[Fact], column: int, console: Console) -> None:
    """Labels with a text each, below each other where labels take much of the width."""
    column = 0 if column > console.width // 2 else column
    for one in facts:
        label, text = Text(clean(one.label), STYLES[one.tone] if one.tone else ""), _text(one.cell)
        if one.is_code or not column:
            label.pad_right(max(1, column - label.cell_len))
            console.print(label + text, soft_wrap=one.is_code)
            continue
        grid = Table.grid()
        grid.add_column(width=column, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(label, text)
        console.print(grid)


def _text(entry: Entry) -> Text:
    tone = entry.tone if isinstance(entry, Cell) else None
    text = NOTHING if isinstance(entry, Absent) and entry.marks else clean(entry.text)
    return Text.assemble((text, STYLES[tone] if tone else ""), ",".join(map(str, entry.marks)).translate(SUPERSCRIPT))


def _table(table: DocumentTable, console: Console, margin: int) -> None:
    """Columns that are empty below their heads are left out; a paragraph for each row where all do not fit."""
    rows = [[Text(clean(row.label)), *map(_text, row.cells)] for row in table.rows]
    if not rows:
        return
    used = [index for index in range(len(table.columns)) if any(row[index] for row in rows)]
    has_head = any(table.columns[index] for index in used[1:])
    grid = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=has_head, header_style="none")
    names = [row[0].plain for row in rows]
    are_names = widest(names) <= 2 * LONGEST_WORD and not any(" " in name for name in names)
    whole, least = [], []
    for index in used:
        texts = [clean(table.columns[index]), *(row[index].plain for row in rows)]
        longest_word = widest(word for text in texts for word in text.split())
        whole.append(widest(texts))
        least.append(longest_word if are_names and not index else min(longest_word, LONGEST_WORD))
    room = console.width - margin - GAP * (len(used) - 1)
    for index, width in zip(used, _widths(whole, least, room), strict=True):
        grid.add_column(Text(clean(table.columns[index])), overflow="fold", width=width)
    for row in rows:
        grid.add_row(*(row[index] for index in used))
    if sum(least) <= room:
        _indent(grid, margin, console)
    else:
        _paragraphs(table, [[row[index] for index in used] for row in rows], used, console)
    for number, text in enumerate(table.footnotes, start=1):
        _indent(Text(f"{str(number).translate(SUPERSCRIPT)} {clean(text)}"), 2 * GAP, console)
    notes = group_pairs((row.note, row.label) for row in table.rows if row.note)
    for note, labels in notes.items():
        _indent(Text(clean(f"{', '.join(labels)}: {note}")), 2 * GAP, console)


def _widths(whole: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths of columns: those of their texts, the widest narrowed to what there is room for, but for their words.

    `rich` would break words of other columns.
    """
    widths = list(whole)
    for most in range(max(whole, default=0), 0, -1):
        if sum(widths) <= room:
            break
        widths = [max(low, min(width, most)) for low, width in zip(least, whole, strict=True)]
    return widths


def _paragraphs(table: DocumentTable, rows: Sequence[Sequence[Text]], used: Sequence[int], console: Console) -> None:
    heads = [clean(table.columns[index]) for index in used]
    for first, *rest in rows:
        parts = (f"{head} {text.plain}".strip() for head, text in zip(heads[1:], rest, strict=True) if text)
        _indent(Text(f"{first.plain}: {'; '.join(parts)}"), GAP, console)


# The answer of a document on one screen: its headline, a labelled line per point, and limitations.

LINES_PER_POINT = (8, 4, 3, 2, 1)
"""Lines that a point may take, fewer where the screen would not hold all; the page has the rest."""
MOST_NOTES = 2
APART = "   "


def screen(answer: Answer, subtitle: str, notes: Sequence[str], width: int) -> list[str]:
    """The lines of the screen, headline first; where lines are not broken, all of them."""
    if width >= WHOLE:
        points = [*answer.points, *(Point("Note", note) for note in notes)]
        return [*_head(answer, subtitle, width, width), "", *_points(points, width, width)]
    lines: list[str] = []
    for most in LINES_PER_POINT:
        head = _head(answer, subtitle, width, most)
        lines = [*head, "", *_points([*answer.points, *_notes(notes)], width, most)]
        if _n_rows(lines, width) <= answer.n_lines:
            break
    return lines[: answer.n_lines]


def _head(answer: Answer, subtitle: str, width: int, most: int) -> list[str]:
    headline = fill_lines(f"{answer.word} {clean(answer.rest)}", width)
    return [*headline[:most], *fill_lines(clean(subtitle), width)[:most]]


def _n_rows(lines: Sequence[str], width: int) -> int:
    """Number of terminal rows that the line needs, as long commands are wrapped by the terminal."""
    return sum(max(1, math.ceil(widest([line]) / width)) for line in lines)


def _notes(notes: Sequence[str]) -> Iterator[Point]:
    for note in notes[:MOST_NOTES]:
        yield Point("Note", note)
    if len(notes) > MOST_NOTES:
        yield Point("Note", f"{len(notes) - MOST_NOTES} more on the page")


def _points(points: Sequence[Point], width: int, most: int) -> Iterator[str]:
    column = max(SHORTEST_LABEL, widest(point.label for point in points)) + GAP
    for point in points:
        head = pad(point.label, column)
        for line in _point_lines(point, width - column, most):
            yield f"{head}{line}".rstrip()
            head = " " * column


def _point_lines(point: Point, width: int, most: int) -> Iterator[str]:
    """Text with code beside it if it fits, else below."""
    text = fill_lines(clean(point.text), width) if point.text else []
    code = [clean(line) for line in point.code.splitlines() if line.strip()]
    beside = f"{text[0]}{APART}{code[0]}" if len(text) == len(code) == 1 else ""
    if beside and widest([beside]) <= width:
        yield beside
        return
    if len(text) > most:
        text = [*text[: most - 1], cut(f"{text[most - 1]} {ELLIPSIS}", width)]
    yield from text
    # A command that is truncated or wrapped here could not be copied.
    yield from code if point.is_command else (cut(line, width) for line in code[:most])
