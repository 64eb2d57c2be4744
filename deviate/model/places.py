"""How lines of files are shown: those of notebooks by cell."""

import re
from pathlib import PurePath

SUFFIX = ".ipynb"
CELL_LINES = 1000
"""Lines of the script for each cell; one of them is its heading."""
LINE = re.compile(r"\bline (\d+)")
TRACED = re.compile(r'(File "[^"\n]*\.ipynb", )line (\d{4,})')
FRAME = re.compile(r'^ *File "(?P<file>.+)", line (?P<line>[0-9]+)')


def is_notebook(file: str) -> bool:
    """Whether a file is a notebook by its name."""
    return file.endswith(SUFFIX)


def place_text(file: str, line: int, column: int | None = None) -> str:
    """How a line of a file is shown; columns count from 1.

    >>> place_text("train.py", 12), place_text("train.ipynb", 7003)
    ('train.py:12', 'train.ipynb cell 7, line 3')
    """
    if is_notebook(file) and line > CELL_LINES:
        return f"{file} {line_text(file, line)}" + (f", column {column}" if column else "")
    return f"{file}:{line}" + (f":{column}" if column else "")


def with_cells(sentence: str, file: str) -> str:
    """A sentence about a file with its lines as they are shown.

    >>> with_cells("counted up at line 7003", "train.ipynb")
    'counted up at cell 7, line 3'
    """
    return LINE.sub(lambda match: line_text(file, int(match[1])), sentence) if is_notebook(file) else sentence


def traceback_with_cells(text: str) -> str:
    """What Python wrote of an error, with lines of notebooks as they are shown.

    >>> traceback_with_cells('File "a/train.ipynb", line 7003, in <module>')
    'File "a/train.ipynb", cell 7, line 3, in <module>'
    """
    return TRACED.sub(lambda match: f"{match[1]}{line_text(SUFFIX, int(match[2]))}", text)


def frame_of(text: str) -> tuple[str, int] | None:
    """File and line of a frame in a traceback; None of any other line of a log.

    >>> frame_of('  File "a/train.py", line 12, in <module>')
    ('a/train.py', 12)
    """
    match = FRAME.match(text)
    return (match["file"], int(match["line"])) if match else None


def project_in_attempt(root: PurePath) -> PurePath:
    """Where the work copy of a project lies in the folder of an attempt."""
    return PurePath("work", root.parent.name or "root", root.name)


def line_text(file: str, line: int) -> str:
    """How a line is shown where its file is clear.

    >>> line_text("train.py", 12), line_text("train.ipynb", 7003)
    ('line 12', 'cell 7, line 3')
    """
    if not is_notebook(file) or line <= CELL_LINES:
        return f"line {line}"
    cell, number = divmod(line, CELL_LINES)
    return f"cell {cell}, line {number}"


def line_of(cell: int, line: int) -> int:
    """The line of the script for a line of a cell; both count from 1."""
    return cell * CELL_LINES + line
