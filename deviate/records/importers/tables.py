"""Reads tables from text files with any separator, and reports what was skipped."""

import csv
import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from deviate.errors import InputError

LARGEST_FILE = 128 * 1024 * 1024
"""A table takes up to 25 times as much memory."""
LONGEST_LINE = 4 * 1024 * 1024
MOST_COLUMNS = 2_000
LOOKED_AT = 100
"""Number of lines from which the separator is determined."""
SEPARATORS = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar"}
"""Separators in order of preference: beside those before the comma, a comma may be a decimal sign."""
COMMENTS = ("#", "%", "//")
MISSING = frozenset({"", "na", "n/a", "#n/a", "null", "none", "-", "--", "–", "—", "missing"})
NUMBER = re.compile(r"[+\-−]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?|[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
TENSOR = re.compile(
    r"(?:tf\.|np\.\w+|jnp\.)?(?:tensor|array|float\d*)\(\s*([^,()\[\]]+?)\s*(?:,[^()]*)?\)", re.IGNORECASE
)
DECIMAL_COMMA = re.compile(r"[+\-−]?\d+,\d+(?:[eE][+-]?\d+)?%?")
DECIMAL_POINT = re.compile(r"[+\-−]?\d*\.\d+(?:[eE][+-]?\d+)?%?")
UNNAMED = re.compile(r"(?:unnamed: \d+)?", re.IGNORECASE)
FORMULA = ("'=", "'+", "'-", "'@")
"""Beginnings of texts that a spreadsheet quotes, because it would read them as formulas."""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells by column, as text without blanks around it; a cell that is missing is empty.

    Attributes:
        has_header: whether the names of the columns stood in the file.
        notes: what was skipped, and how numbers are written, where that is not the usual way.
    """

    columns: dict[str, list[str]]
    n_rows: int
    has_header: bool = True
    notes: tuple[str, ...] = ()


def number(cell: str) -> float | None:
    """The number that a cell holds, None where it holds another text or nothing.

    >>> number("0.5"), number("1e-3"), number("93.1%"), number("tensor(0.5)"), number("0.5 ± 0.1"), number("1_0")
    (0.5, 0.001, 93.1, 0.5, None, None)
    """
    try:
        if "_" not in cell:
            return float(cell)
    except ValueError:
        pass
    text = cell.removesuffix("%").strip()
    if tensor := TENSOR.fullmatch(text):
        text = tensor[1]
    if not NUMBER.fullmatch(text):
        return None
    return float(text.replace("−", "-").replace("d", "e").replace("D", "E"))


def head(path: Path, n_characters: int = 4096) -> str:
    """The beginning of a text file; empty for folders, unreadable files and binary files."""
    try:
        with path.open("rb") as file:
            data = file.read(n_characters)
    except OSError:
        return ""
    return "" if _is_binary(data) else _decode(data, is_cut=True)


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        InputError: it cannot be read, is empty, is no text, or is too large.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise InputError(
                f"{path} has {size / 1e9:.1f} GB, too much for results of runs",
                f"name a file below {LARGEST_FILE // 1024**2} MB that holds only scores or measurements",
            )
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"reading {path}: {error.strerror or error}", "check its name and permissions") from error
    if not data.strip():
        raise InputError(f"{path} is empty", "name a file with results")
    if _is_binary(data[:65_536]):
        raise InputError(f"{path} is not a text file", "export it as CSV or JSON first")
    return _decode(data)


def read_table(path: Path) -> Table:
    """Read a table.

    Raises:
        InputError: it cannot be read, holds no cells, or has lines that do not fit.
    """
    return table_of(read_text(path), path)


def table_of(text: str, path: Path) -> Table:
    """Parse a table from text; `path` is used in messages. Raises InputError as `read_table`."""
    lines = text.splitlines()
    if any(len(line) > LONGEST_LINE for line in lines):
        raise InputError(f"{path} has a line of more than {LONGEST_LINE} characters", "name a table of results")
    numbered_lines = [(at, line) for at, line in enumerate(lines, 1) if line.strip()]
    notes: list[str] = []
    comments = [line for _, line in numbered_lines if line.lstrip().startswith(COMMENTS)]
    numbered_lines = [(at, line) for at, line in numbered_lines if not line.lstrip().startswith(COMMENTS)]
    if comments:
        notes.append(f"{len(comments)} comment line{'s' * (len(comments) > 1)} skipped")
    if not numbered_lines:
        raise InputError(f"{path} holds only comments", "name a file with results")
    separator = _separator([line for _, line in numbered_lines[:LOOKED_AT]])
    rows = list(_split([line for _, line in numbered_lines], separator, path))
    places = [at for at, _ in numbered_lines] if len(rows) == len(numbered_lines) else list(range(1, len(rows) + 1))
    if separator not in {",", ""}:
        notes.append(f"separated by {SEPARATORS.get(separator, 'blanks')}")
    header, rows, places = _header(rows, places, comments, separator, path)
    if not header and len(rows) == 1 and len(rows[0]) > 1:  # a list of numbers in one line
        rows, places = [[cell] for cell in rows[0]], places * len(rows[0])
    names = _names(header, max(map(len, rows), default=0), path)
    _check(names, rows, places, path, len(header))
    n_again = sum(row == header for row in rows)
    if n_again:
        rows = [row for row in rows if row != header]
        notes.append(f"{n_again} repeated header line{'s' * (n_again > 1)} skipped")
    columns = {name: [row[at] if at < len(row) else "" for row in rows] for at, name in enumerate(names)}
    cells = itertools.chain.from_iterable(columns.values())
    if _has_decimal_comma(cells):
        notes.append("commas are decimal")
        columns = {
            name: [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in column]
            for name, column in columns.items()
        }
    columns = {name: ["" if cell.lower() in MISSING else cell for cell in column] for name, column in columns.items()}
    return Table(columns, len(rows), bool(header), tuple(notes))


def _is_binary(data: bytes) -> bool:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    return (
        b"\0" in data or sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in data[:4096]) > len(data[:4096]) / 50
    )


def _decode(data: bytes, *, is_cut: bool = False) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
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
    best, most = "", 0.0
    for separator in (*SEPARATORS, " "):
        n_cells = [len(cells) for cells in _cells(lines, separator, Path())]
        usual, n_lines = Counter(n_cells).most_common(1)[0]
        share = n_lines / len(n_cells) if usual > 1 and (separator != " " or not best) else 0.0
        if separator != " " and min(n_cells) > 1:  # lines of different lengths are reported, not read as one column
            share = max(share, 0.55)
        if share > most + 0.1:
            best, most = separator, share
    return best if most > 0.5 else ""


def _split(lines: Sequence[str], separator: str, path: Path) -> Iterator[list[str]]:
    """Split non-empty lines into cells; trailing empty cells, as spreadsheets add them, are dropped."""
    for cells in _cells(lines, separator, path):
        while len(cells) > 1 and not cells[-1]:
            cells.pop()
        if any(cells):
            yield cells


def _cells(lines: Sequence[str], separator: str, path: Path) -> Iterator[list[str]]:
    if separator == " ":
        yield from (line.split() for line in lines)
        return
    reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=separator or "\x1f", skipinitialspace=True)
    try:
        yield from ([_plain(cell.strip()) for cell in row] for row in reader)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}", "name a table of results") from error


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith(FORMULA) else cell


def _header(
    rows: list[list[str]], places: list[int], comments: Sequence[str], separator: str, path: Path
) -> tuple[list[str], list[list[str]], list[int]]:
    """Names of the columns: the first line unless it holds only numbers, else the comment before the numbers."""
    numbers = [number(cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell) for cell in rows[0]]
    is_measured = any(value is not None and value != value // 1 for value in numbers)
    if not is_measured and any(
        parsed is None and cell.lower() not in MISSING for parsed, cell in zip(numbers, rows[0], strict=True)
    ):
        if len(rows) == 1:
            raise InputError(f"{path} has a header but no rows", "name a file with results")
        return rows[0], rows[1:], places[1:]
    for comment in reversed(comments):
        (cells,) = list(_split([comment.lstrip("#%/ ")], separator, path)) or [[]]
        if len(cells) == len(rows[0]) and all(number(cell) is None for cell in cells):
            return cells, rows, places
    return [], rows, places


def _names(header: Sequence[str], n_columns: int, path: Path) -> list[str]:
    if len(header) + 1 == n_columns and header:
        header = ["", *header]  # as written by R: the column of row names has no header
    names = [*header, *[""] * (n_columns - len(header))]
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"{path} has {len(names)} columns: this looks like data, not like results of runs",
            "name a file with scores or measurements",
        )
    if not header:
        return ["value"] if n_columns == 1 else [f"column {at}" for at in range(1, n_columns + 1)]
    titles = [name if not UNNAMED.fullmatch(name) else f"column {at}" for at, name in enumerate(names, 1)]
    again = [name for name, n in Counter(titles).items() if n > 1]
    if again:
        raise InputError(
            f"{path} has several columns named {', '.join(map(repr, again[:3]))}", "give each column a name of its own"
        )
    return titles


def _check(names: Sequence[str], rows: Sequence[list[str]], places: Sequence[int], path: Path, n_named: int) -> None:
    """Raise InputError for lines longer than the header; only the column of row names may lack a header."""
    n_longer = sum(len(row) > n_named for row in rows)
    if n_named and n_longer and not (len(names) == n_named + 1 and n_longer == len(rows)):
        at, row = next((place, row) for place, row in zip(places, rows, strict=False) if len(row) > n_named)
        raise InputError(
            f"{path}, line {at}: {len(row)} cells, but the header has {n_named}",
            "write as many cells in every line as in the header, and tables with another header to another file",
        )


def _has_decimal_comma(cells: Iterator[str]) -> bool:
    sample = list(itertools.islice(cells, 100_000))
    return any(map(DECIMAL_COMMA.fullmatch, sample)) and not any(map(DECIMAL_POINT.fullmatch, sample))


def is_numeric(column: Sequence[str]) -> bool:
    """Whether a column has values and all of them are numbers."""
    filled = [cell for cell in column if cell]
    return bool(filled) and all(number(cell) is not None for cell in filled)


def is_integral(column: Sequence[str]) -> bool:
    """Whether a column has values and all of them are whole numbers."""
    values = [number(cell) for cell in column if cell]
    return bool(values) and all(value is not None and math.isfinite(value) and value == int(value) for value in values)
