"""An answer on one screen of a terminal: its headline, a labelled line per point, and limitations."""

import math
from collections.abc import Iterator, Sequence

from deviate.report.document import Answer, Point
from deviate.report.format import ELLIPSIS, clean
from deviate.report.lines import cut, fill_lines, pad, widest

N_LINES = 23
"""Of a screen of 24, so that where the page lies still stands below."""
LINES_PER_POINT = (8, 4, 3, 2, 1)
"""Lines that a point may take, fewer where the screen would not hold all; the page has the rest."""
MOST_NOTES = 2
SHORTEST_LABEL = 9
APART = "   "


def screen(answer: Answer, subtitle: str, notes: Sequence[str], width: int) -> list[str]:
    """The lines of the screen, headline first."""
    lines: list[str] = []
    for most in LINES_PER_POINT:
        lines = [
            *fill_lines(f"{answer.word} {clean(answer.rest)}", width, "", "  ")[:most],
            *fill_lines(clean(subtitle), width, "", "  ")[:most],
            "",
            *_points([*answer.points, *_notes(notes)], width, most),
        ]
        if _n_rows(lines, width) <= N_LINES:
            break
    return lines


def _n_rows(lines: Sequence[str], width: int) -> int:
    """Number of terminal rows that the line needs, as long commands are wrapped by the terminal."""
    return sum(max(1, math.ceil(widest([line]) / width)) for line in lines)


def _notes(notes: Sequence[str]) -> Iterator[Point]:
    for note in notes[:MOST_NOTES]:
        yield Point("Note", note)
    if len(notes) > MOST_NOTES:
        yield Point("Note", f"{len(notes) - MOST_NOTES} more on the page")


def _points(points: Sequence[Point], width: int, most: int) -> Iterator[str]:
    column = max(SHORTEST_LABEL, widest([point.label for point in points])) + 2
    for point in points:
        head = pad(point.label, column)
        for line in _point_lines(point, width - column, most):
            yield f"{head}{line}".rstrip()
            head = " " * column


def _point_lines(point: Point, width: int, most: int) -> Iterator[str]:
    """Text with code beside it if it fits, else below."""
    text = fill_lines(clean(point.text), width)
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
