r"""Number columns for the LaTeX package siunitx: aligned at the decimal point, as wide as the data require."""

from collections.abc import Sequence
from dataclasses import dataclass

from deviate.report.document import Cell, Entry
from deviate.report.format import MINUS
from deviate.report.numbers import PLUS_MINUS, TO, ShownNumber


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Format of a number column: optional sign, integer digits, decimals, and digits of an uncertainty.

    Attributes:
        uncertainty: digits before the point; None where no number has one.
    """

    sign: str
    whole: int
    places: int
    uncertainty: int | None = None

    @property
    def type(self) -> str:
        # Written out, an uncertainty has its zeros before and behind the point: 0.022 takes four digits.
        digits = "" if self.uncertainty is None else f"({self.uncertainty + self.places})"
        return f"S[table-format={self.sign}{self.whole}.{self.places}{digits}"

    @property
    def widest(self) -> str:
        """The widest number of the column.

        >>> NumberColumn("+", 2, 3, 1).widest
        '+00.000 ± 0.000'
        """
        spread = "" if self.uncertainty is None else f"{PLUS_MINUS}{'0' * self.uncertainty}.{'0' * self.places}"
        return f"{self.sign}{'0' * self.whole}.{'0' * self.places}{spread}"


def number_column(entries: Sequence[Entry]) -> NumberColumn | None:
    """The format of a column; None if it does not contain numbers.

    >>> number_column([Cell((ShownNumber(93.41, 2), " ± ", ShownNumber(0.22, 2))), Cell((ShownNumber(100.1, 1),))])
    NumberColumn(sign='', whole=3, places=2, uncertainty=1)
    """
    cells = [entry for entry in entries if isinstance(entry, Cell) and entry.pieces and not _is_braced(entry)]
    per_cell = [_numbers(cell) for cell in cells]
    if not per_cell or not all(per_cell):
        return None
    firsts = [_width(numbers[0]) for numbers in per_cell]
    seconds = [_width(numbers[1]) for numbers in per_cell if len(numbers) > 1]
    return NumberColumn(
        sign="+" if any(sign for sign, _, _ in firsts) else "",
        whole=max(whole for _, whole, _ in firsts),
        places=max(places for _, _, places in firsts),
        uncertainty=max((whole for _, whole, _ in seconds), default=None),
    )


def number_text(cell: Cell) -> str:
    r"""A number in the input format of siunitx.

    >>> mean, sd = ShownNumber(93.41, 2), ShownNumber(0.22, 2)
    >>> number_text(Cell((ShownNumber(-0.33, 2),))), number_text(Cell((mean, " ± ", sd)))
    ('-0.33', '93.41 \\pm 0.22')
    """
    return cell.text.replace(MINUS, "-").replace("±", r"\pm")


def is_number(cell: Cell) -> bool:
    return bool(_numbers(cell))


def _numbers(cell: Cell) -> tuple[ShownNumber, ...]:
    """The number of a cell, with its uncertainty if it has one; empty for other cells."""
    match cell.pieces:
        case (ShownNumber() as value,) if _is_plain(value):
            return (value,)
        case (ShownNumber() as value, str(between), ShownNumber() as spread) if (
            between == PLUS_MINUS and _is_plain(value) and _is_plain(spread)
        ):
            return (value, spread)
    return ()


def _is_plain(number: ShownNumber) -> bool:
    mantissa, exponent = number.digits
    return not exponent and mantissa[-1:].isdecimal()


def _is_braced(cell: Cell) -> bool:
    """Whether a cell goes in braces: an interval, or content that does not fit a number column."""
    first = cell.pieces[0]
    if isinstance(first, str):
        return first.startswith("[")
    return bool(first.digits[1]) or cell.pieces[1:2] == (TO,)


def _width(number: ShownNumber) -> tuple[str, int, int]:
    """Sign, and number of digits before and after the decimal point."""
    mantissa = number.digits[0]
    digits = mantissa.lstrip(f"+{MINUS}")
    whole, _, places = digits.partition(".")
    return mantissa[: len(mantissa) - len(digits)], len(whole), len(places)
