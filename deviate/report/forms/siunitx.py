r"""Columns of numbers for the package siunitx: aligned at their points, each as wide as its data needs."""

import re
from collections.abc import Sequence

from deviate.report.format import MINUS
from deviate.report.parts.table_cells import NOTHING, TableCell

NUMBER = re.compile(rf"([+{MINUS}]?)(\d+)(?:\.(\d+))?(?: ± (\d+)(?:\.(\d+))?)?")
BRACED = re.compile(rf"\[|[+{MINUS}]?[\d.]+(?:e{MINUS}?\d+| … )")
"""Intervals, and what is too far from one for a column of plain numbers: these stand in braces."""

FORMAT = re.compile(r"table-format=(\+?)(\d+)\.(\d+)(?:\((\d+)\))?")


def number_column(cells: Sequence[TableCell]) -> str:
    r"""The column's type with its format; empty where what stands in it is not numbers.

    >>> number_column([TableCell("93.41 ± 0.22"), TableCell("100.1 ± 1.0"), TableCell("—")])
    'S[table-format=3.2(3)]'
    """
    texts = [it.text for it in cells if it.text and it.text != NOTHING and not BRACED.match(it.text)]
    found = [NUMBER.fullmatch(text) for text in texts]
    matches = [it for it in found if it is not None]
    if not matches or len(matches) < len(found):
        return ""
    whole = max(len(it[2]) for it in matches)
    places = max(len(it[3] or "") for it in matches)
    sign = "+" if any(it[1] for it in matches) else ""
    # Written out, an uncertainty has its zeros before and behind the point: 0.022 takes four digits.
    spread = max((len(it[4]) for it in matches if it[4]), default=0)
    return f"S[table-format={sign}{whole}.{places}{f'({spread + places})' if spread else ''}]"


def number_text(text: str) -> str:
    r"""A number as siunitx reads it.

    >>> number_text("−0.33"), number_text("93.41 ± 0.22")
    ('-0.33', '93.41 \\pm 0.22')
    """
    return text.replace(MINUS, "-").replace("±", r"\pm")


def is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None


def widest_number(column: str) -> str:
    """The number that a column leaves room for; empty for one of another type.

    >>> widest_number("S[table-format=+2.3(4)]")
    '+00.000 ± 0.000'
    """
    found = FORMAT.search(column)
    if found is None:
        return ""
    sign, whole, places, digits = found[1], int(found[2]), int(found[3]), int(found[4] or 0)
    spread = f" ± {'0' * (digits - places)}.{'0' * places}" if digits else ""
    return f"{sign}{'0' * whole}.{'0' * places}{spread}"
