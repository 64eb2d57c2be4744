r"""Number columns for the LaTeX package siunitx: aligned at the decimal point, as wide as the data require."""

from collections.abc import Sequence
from dataclasses import dataclass

from deviate.report.document import Absent, Cell, Entry
from deviate.report.format import MINUS
from deviate.report.forms.tex import typeset
from deviate.report.numbers import PLUS_MINUS, TO, Pieces, ShownNumber


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Format of a number column: optional sign, integer digits, decimals, and digits of an uncertainty.

    Attributes:
        uncertainty: digits before the point; None where no number has one.
        options: of the column, beside its format.
    """

    sign: str
    whole: int
    places: int
    uncertainty: int | None = None
    options: str = ""

    def __str__(self) -> str:
        # Written out, an uncertainty has its zeros before and behind the point: 0.022 takes four digits.
        digits = "" if self.uncertainty is None else f"({self.uncertainty + self.places})"
        return f"S[table-format={self.sign}{self.whole}.{self.places}{digits}{self.options}]"


def number_column(entries: Sequence[Entry], keys: str = "", marks: str = "") -> NumberColumn | None:
    """The format of a column; None where a cell does not begin with a number.

    Args:
        keys: options of siunitx. marks: the longest that stand behind a number.

    >>> mean = Cell((ShownNumber(93.41, 2), " ± ", ShownNumber(0.22, 2)))
    >>> print(number_column([mean, Cell((ShownNumber(100.1, 1),))]))
    S[table-format=3.2(3)]
    """
    cells = [entry for entry in entries if not isinstance(entry, Absent) and entry.pieces]
    numbers = [_split(entry) for entry in cells]
    if not numbers or not all(first for first, _ in numbers):
        return None
    widths = [_width(first[0]) for first, _ in numbers]
    spreads = [_width(first[1]) for first, _ in numbers if len(first) > 1]
    behind = max((typeset(rest) for _, rest in numbers), key=len) + marks
    return NumberColumn(
        sign="+" if any(sign for sign, _, _ in widths) else "",
        whole=max(whole for _, whole, _ in widths),
        places=max(places for _, _, places in widths),
        uncertainty=max((whole for _, whole, _ in spreads), default=None),
        options=(f",{keys}" if keys else "") + (f",table-space-text-post={{{behind}}}" if behind else ""),
    )


def number_text(cell: Cell) -> tuple[str, Pieces] | None:
    r"""The number of a cell in the input format of siunitx, and what follows it; None without one.

    >>> mean, sd = ShownNumber(93.41, 2), ShownNumber(0.22, 2)
    >>> number_text(Cell((ShownNumber(-0.33, 2),))), number_text(Cell((mean, " ± ", sd, " %")))
    (('-0.33', ()), ('93.41 \\pm 0.22', (' %',)))
    """
    numbers, rest = _split(cell)
    text = r" \pm ".join(number.text.replace(MINUS, "-") for number in numbers)
    return (text, rest) if numbers else None


def _split(cell: Cell) -> tuple[tuple[ShownNumber, ...], Pieces]:
    """The number that a cell begins with, its uncertainty if it has one, and what follows; no number in other cells."""
    match cell.pieces:
        case (ShownNumber() as value, str(between), ShownNumber() as spread, *rest) if (
            between == PLUS_MINUS and _is_plain(value) and _is_plain(spread)
        ):
            return (value, spread), tuple(rest)
        case (ShownNumber() as value, *rest) if rest[:1] != [TO] and value.style != "p" and _is_plain(value):
            return (value,), tuple(rest)
    return (), cell.pieces


def _is_plain(number: ShownNumber) -> bool:
    mantissa, exponent = number.digits
    return not exponent and mantissa[-1:].isdecimal()


def _width(number: ShownNumber) -> tuple[str, int, int]:
    """Sign, and number of digits before and after the decimal point."""
    mantissa = number.digits[0]
    digits = mantissa.lstrip(f"+{MINUS}")
    whole, _, places = digits.partition(".")
    return mantissa[: len(mantissa) - len(digits)], len(whole), len(places)
