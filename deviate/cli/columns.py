"""Tables of text for a terminal or a pipe."""

from collections.abc import Sequence

from deviate.report.format import clean


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns that are as wide as their widest cell; columns that are empty below the head are left out.

    The first row is the head. Cells may hold foreign text.
    """
    cells = [[clean(cell) for cell in row] for row in rows]
    used = [index for index in range(len(cells[0])) if any(row[index] for row in cells[1:])]
    widths = {index: max(len(row[index]) for row in cells) for index in used}
    return "\n".join("  ".join(f"{row[index]:<{widths[index]}}" for index in used).rstrip() for row in cells)
