"""Lays out text in lines by display width on a terminal, where some characters are two columns wide."""

import itertools
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from deviate.report.format import ELLIPSIS, clean, printable, shorten_middle

JOIN = " · "
LONGEST_NAME = 60
"""Columns that a name of the user's may take where others stand beside it."""
GAP = "  "
WIDEST_CELL, NARROWEST_LAST = 36, 24
"""Columns of a cell of a wrapped table that is not the last of its row, and those that the last one needs."""


def name(text: str) -> str:
    """A name on one line; long names are shortened in the middle."""
    text = clean(text)
    return text if cell_len(text) <= LONGEST_NAME else shorten_middle(text, LONGEST_NAME * len(text) // cell_len(text))


def pad(text: str, n_columns: int) -> str:
    """Pad the text with blanks to a display width; longer text is returned unchanged."""
    return text + " " * (n_columns - cell_len(text))


def cut(text: str, n_columns: int) -> str:
    """Truncate the text to a display width, with a sign where something was cut."""
    return text if cell_len(text) <= n_columns else set_cell_size(text, n_columns - 1).rstrip() + ELLIPSIS


def widest(texts: Sequence[str]) -> int:
    return max(map(cell_len, texts), default=0)


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns that are as wide as their widest cell; columns that are empty below the head are left out.

    The first row is the head. Cells may hold foreign text; the first of a row is a name.
    """
    cells = [[name(row[0]), *map(clean, row[1:])] for row in rows]
    used = [index for index in range(len(cells[0])) if any(row[index] for row in cells[1:])]
    widths = {index: widest([row[index] for row in cells]) for index in used}
    return "\n".join("  ".join(pad(row[index], widths[index]) for index in used).rstrip() for row in cells)


def fill_lines(text: str, width: int, indent: str = "", subsequent_indent: str | None = None) -> list[str]:
    """Words in lines no wider than `width`; a word that is wider is broken.

    Args:
        indent: of the first line. subsequent_indent: of the other lines; as the first where it is None.
    """
    subsequent_indent = indent if subsequent_indent is None else subsequent_indent
    lines: list[str] = []
    line = indent
    is_empty = True
    for word in _words(text, width - max(cell_len(indent), cell_len(subsequent_indent))):
        if not is_empty and cell_len(line) + 1 + cell_len(word) > width:
            lines.append(line)
            line, is_empty = subsequent_indent, True
        line = f"{line}{word}" if is_empty else f"{line} {word}"
        is_empty = False
    return lines if is_empty else [*lines, line]


def hang(text: str, width: int, first: str = "", below: str = "") -> list[str]:
    """Foreign text in lines that begin with `first` and `below`; blanks between words stay as they are."""
    return textwrap.wrap(printable(text), width, initial_indent=first, subsequent_indent=below, break_on_hyphens=False)


def label_lines(pairs: Iterable[tuple[str, str]], width: int, margin: int) -> list[str]:
    """Labels with a text each, which begins in the column `margin`."""
    return [line for label, text in pairs for line in hang(text, width, f"{label:<{margin}}", " " * margin)]


def wrap_table(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Rows below their titles, two columns in, with wide cells wrapped; a paragraph each where that takes more room."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths[:-1] = [min(size, WIDEST_CELL) for size in widths[:-1]]
    missing = len(GAP) * len(widths) + sum(widths) - width
    gap = " " if 0 < missing < len(widths) else GAP  # narrower gaps, if with them it fits
    room = width - len(GAP) - sum(widths[:-1]) - len(gap) * (len(widths) - 1)
    lines: list[str] = []
    if room < min(widths[-1], NARROWEST_LAST):
        for first, *rest in cells[1:]:
            parts = (f"{title} {cell}".strip() for title, cell in zip(cells[0][1:], rest, strict=True) if cell)
            lines += hang(f"{first}{GAP}{', '.join(parts)}", width, GAP, GAP * 3)
        return lines
    widths[-1] = min(widths[-1], room)
    for row in cells:
        wrapped = [hang(cell, size) for cell, size in zip(row, widths, strict=True)]
        parallel = itertools.zip_longest(*wrapped, fillvalue="")
        lines += [f"{GAP}{gap.join(map(pad, parts, widths))}".rstrip() for parts in parallel]
    return lines


def join_parts(head: str, parts: Sequence[str], width: int, *, indent: int, join: str = JOIN) -> Iterator[str]:
    """Parts after a heading, broken between parts when the line is full, and within parts wider than a line."""
    line, is_empty = head, True
    if cell_len(head.rstrip()) > width:
        *lines, line = fill_lines(head, width, "", " " * indent)
        yield from lines
        line += " " * (cell_len(head) - cell_len(head.rstrip()))
    for part in parts:
        piece = part if is_empty else f"{join}{part}"
        if cell_len(line) + cell_len(piece) > width and line.strip():
            yield line.rstrip()
            line, piece = " " * indent, part
        if cell_len(line) + cell_len(piece) > width:
            *lines, line = fill_lines(piece, width, line)
            yield from lines
        else:
            line += piece
        is_empty = False
    yield line.rstrip()


def align_rows(rows: Sequence[Sequence[str]], width: int, remarks: Sequence[str] = ()) -> Iterator[str]:
    """Rows below their headings, with remarks below rows; rows that are too wide are printed as blocks."""
    cells = [(name(row[0]), *map(clean, row[1:])) for row in rows]
    widths = [widest(column) for column in zip(*cells, strict=True)]
    is_narrow = sum(widths) + 2 * len(widths) > width
    for index, row in enumerate(cells):
        # The names of the metrics stand two columns in from their heading, like those of the blocks above.
        first = row[0] if index == 0 else f"  {row[0]}"
        if is_narrow:
            yield from join_parts(f"{first}  ", tuple(filter(None, row[1:])), width, indent=4)
        else:
            padded_cells = (pad(cell, size) for cell, size in zip(row[1:], widths[1:], strict=True))
            yield "  ".join((pad(first, widths[0] + 2), *padded_cells)).rstrip()
        if index and remarks and remarks[index - 1]:
            yield from fill_lines(clean(remarks[index - 1]), width, "      ")


def _words(text: str, width: int) -> Iterator[str]:
    """Yield words, split where they are wider than a line."""
    for word in text.split():
        rest = word
        while cell_len(rest) > max(width, 1):
            piece = set_cell_size(rest, max(width, 1)).rstrip(" ")
            # A wide letter that does not fit is replaced by a blank: it begins the next piece.
            n_letters = max(
                1, sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(piece, rest, strict=False)))
            )
            yield rest[:n_letters]
            rest = rest[n_letters:]
        yield rest
