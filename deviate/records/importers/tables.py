"""Reads tables from text files with any separator, and reports what was skipped."""

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.errors import InputError
from deviate.model.texts import count

LARGEST_FILE = 128 * 1024 * 1024
"""A table takes up to 25 times as much memory."""
LOOKED_AT = 100
"""Number of lines from which the separator is determined."""
SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}
"""Separators in order of preference: beside those before the comma, a comma may be a decimal sign."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
COMMENTS = ("#", "%", "//")
MISSING = frozenset({"", "na", "n/a", "#n/a", "null", "none", "-", "--", "–", "—", "missing"})
DECIMAL_COMMA = re.compile(r"[+\-−]?\d+,\d+(?:[eE][+-]?\d+)?%?")
DECIMAL_POINT = re.compile(r"[+\-−]?\d*\.\d+(?:[eE][+-]?\d+)?%?")
FORMULA = re.compile("^'(?=[=+@-])")
"""The quote before a text that a spreadsheet would read as a formula."""


@dataclass(frozen=True, slots=True)
class CellTable:
    """Cells by column, as text without blanks around it; a cell that is missing is empty.

    Attributes:
        notes: what was skipped, and how numbers are written, where that is not the usual way.
    """

    columns: dict[str, list[str]]
    n_rows: int
    notes: tuple[str, ...] = ()


def number(cell: str) -> float | None:
    """The number that a cell holds, None where it holds another text or nothing.

    >>> number("0.5"), number("1e-3"), number("93.1%"), number("0.5 ± 0.1"), number("1_0")
    (0.5, 0.001, 93.1, None, None)
    """
    try:
        return None if "_" in cell else float(cell.removesuffix("%").replace("−", "-"))
    except ValueError:
        return None


def head(path: Path, n_characters: int = 4096) -> str:
    """The beginning of a text file; empty for folders, unreadable files and binary files."""
    try:
        with path.open("rb") as file:
            data = file.read(n_characters)
    except OSError:
        return ""
    return "" if _is_binary(data) else _decode(data, is_cut=True)


def first_row(path: Path) -> list[str]:
    """The cells of the first line of a table that is separated by commas or semicolons."""
    return [cell.strip(' "') for cell in head(path).partition("\n")[0].strip().replace(";", ",").split(",")]


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        InputError: it is empty, is no text, or is too large.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise InputError(f"{path} has {size / 1e9:.1f} GB: this looks like data", "name a file with scores")
    data = path.read_bytes()
    if not data.strip():
        raise InputError(f"{path} is empty", "name a file with results")
    if _is_binary(data[:65_536]):
        raise InputError(f"{path} is not a text file", "export it as CSV or JSON first")
    return _decode(data)


def read_table(path: Path) -> CellTable:
    """Read a table.

    Raises:
        InputError: it holds no cells, or has lines that do not fit.
        OSError: it cannot be read.
    """
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    comments = [line for line in lines if line.lstrip().startswith(COMMENTS)]
    lines = [line for line in lines if not line.lstrip().startswith(COMMENTS)]
    if not any(line.strip(f"{''.join(SEPARATORS)} ") for line in lines):
        raise InputError(f"{path} holds only comments or empty cells", "name a file with results")
    try:
        separator = _separator(lines[:LOOKED_AT])
        rows = [cells for cells in _split(lines, separator) if any(cells)]
        remarks = _split([comment.lstrip("#%/ ") for comment in reversed(comments)], separator)
    except csv.Error as error:
        raise InputError(f"{path} is no table: {error}", "name a table of results") from error
    cells = list(itertools.chain.from_iterable(rows))
    is_decimal_comma = any(map(DECIMAL_COMMA.fullmatch, cells)) and not any(map(DECIMAL_POINT.fullmatch, cells))
    header, rows = _header([_clean(cells, is_decimal_comma=is_decimal_comma) for cells in rows], remarks)
    if not rows:
        raise InputError(f"{path} has a header but no rows", "name a file with results")
    if not header and len(rows) == 1:  # a list of numbers in one line
        rows = [[cell] for cell in rows[0]]
    names = _names(header, rows, path)
    data_rows = [row for row in rows if row != header]
    columns = {name: [row[at] if at < len(row) else "" for row in data_rows] for at, name in enumerate(names)}
    notes = (
        f"{count(len(comments), 'comment line')} skipped" if comments else "",
        f"separated by {SEPARATORS.get(separator, 'blanks')}" if separator not in {",", ""} else "",
        "commas are decimal" if is_decimal_comma else "",
    )
    return CellTable(columns, len(data_rows), tuple(filter(None, notes)))


def _clean(cells: Sequence[str], *, is_decimal_comma: bool) -> list[str]:
    """A row whose missing cells are empty, without those at its end, which spreadsheets add."""
    row = ["" if cell.lower() in MISSING else cell for cell in cells]
    if is_decimal_comma:
        row = [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in row]
    return row[: max((at for at, cell in enumerate(row, 1) if cell), default=0)]


def _is_binary(data: bytes) -> bool:
    return b"\0" in data and not data.startswith(UTF_16)


def _decode(data: bytes, *, is_cut: bool = False) -> str:
    if data.startswith(UTF_16):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig", "ignore" if is_cut else "strict")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _separator(lines: Sequence[str]) -> str:
    """The separator that gives most lines the same number of cells, at least two; empty for a single column."""
    texts = [line.strip() for line in lines if "," in line or line is not lines[0]]
    if texts and all(map(DECIMAL_COMMA.fullmatch, texts)):  # a single column whose name, if it has one, holds no comma
        return ""
    for separator in (*SEPARATORS, " "):
        n_cells = [len(cells) for cells in _split(lines, separator)]
        usual, n_lines = Counter(n_cells).most_common(1)[0]
        if separator != " " and min(n_cells) > 1:  # lines of different lengths are reported, not read as one column
            return separator
        if usual > 1 and 2 * n_lines > len(n_cells):
            return separator
    return ""


def _split(lines: Sequence[str], separator: str) -> list[list[str]]:
    if separator == " ":
        return [line.split() for line in lines]
    reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=separator or "\x1f", skipinitialspace=True)
    return [[FORMULA.sub("", cell.strip()) for cell in row] for row in reader]


def _header(rows: list[list[str]], remarks: Sequence[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Names of the columns: the first line unless it holds only numbers, else the comment before the numbers."""
    numbers = [number(cell) for cell in rows[0] if cell]
    if None in numbers and not any(value is not None and value % 1 for value in numbers):
        return rows[0], rows[1:]
    for cells in remarks:
        if len(cells) == len(rows[0]) and all(number(cell) is None for cell in cells):
            return cells, rows
    return [], rows


def _names(header: Sequence[str], rows: Sequence[Sequence[str]], path: Path) -> list[str]:
    """Names of the columns; only that of row names, as R writes it, may lack one.

    Raises:
        InputError: two are equal, or a row is longer than the header.
    """
    n_columns = max(map(len, rows))
    if not header:
        return ["value"] if n_columns == 1 else [f"column {at}" for at in range(1, n_columns + 1)]
    if all(len(row) == len(header) + 1 for row in rows):
        header = ["", *header]
    elif n_columns > len(header):
        row = next(row for row in rows if len(row) > len(header))
        raise InputError(
            f"{path}: the row {','.join(row)[:80]} has {len(row)} cells, but the header has {len(header)}",
            "write as many cells in every line as in the header",
        )
    names = [name or f"column {at}" for at, name in enumerate(header, 1)]
    again = next((name for name, n in Counter(names).items() if n > 1), None)
    if again is not None:
        raise InputError(f"{path} has several columns named {again!r}", "give each column a name of its own")
    return names


def is_numeric(column: Sequence[str]) -> bool:
    """Whether a column has values and all of them are numbers."""
    return any(column) and all(number(cell) is not None for cell in column if cell)


def is_integral(column: Sequence[str]) -> bool:
    """Whether a column has values and all of them are whole numbers."""
    return is_numeric(column) and all(float(number(cell) or 0).is_integer() for cell in column if cell)
