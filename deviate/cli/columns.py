"""Tables of text for a terminal or a pipe."""

from collections.abc import Sequence

from deviate.report import clean, name, pad, widest


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns that are as wide as their widest cell; columns that are empty below the head are left out.

    The first row is the head. Cells may hold foreign text; the first of a row is a name.
    """
    cells = [[name(row[0]), *map(clean, row[1:])] for row in rows]
    used = [index for index in range(len(cells[0])) if any(row[index] for row in cells[1:])]
    widths = {index: widest([row[index] for row in cells]) for index in used}
    return "\n".join("  ".join(pad(row[index], widths[index]) for index in used).rstrip() for row in cells)
