"""Numbers with the decimals to show, and words between them: the contents of cells and sentences."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from deviate.report.format import ELLIPSIS, decimals, digits, duration_parts, p_cell, plus

Style = Literal["plain", "signed", "p", "grouped"]


@dataclass(frozen=True, slots=True)
class ShownNumber:
    """A number with its display format.

    Attributes:
        value: unrounded. places: decimals, fewer than none for tens and hundreds; None for six significant digits.
        style: `signed` with a plus sign where it is positive, as differences are; `p` a p-value, which has three
            decimals; `grouped` a whole number with its thousands apart.
    """

    value: float
    places: int | None = None
    style: Style = "plain"

    @property
    def digits(self) -> tuple[str, str]:
        """Sign with digits, and the power of ten, which is empty for most numbers."""
        if self.style == "p":
            return p_cell(self.value), ""
        if self.style == "grouped":
            return f"{self.value:,.0f}", ""
        mantissa, exponent = digits(self.value, self.places)
        return (plus(self.value, mantissa) if self.style == "signed" else mantissa), exponent

    @property
    def text(self) -> str:
        mantissa, exponent = self.digits
        return f"{mantissa}e{exponent}" if exponent else mantissa


Piece = str | ShownNumber
"""Words, or a number among them."""
Pieces = tuple[Piece, ...]
PLUS_MINUS, TO, PERCENT = " ± ", f" {ELLIPSIS} ", " %"


def text_of(pieces: Iterable[Piece]) -> str:
    return "".join(piece if isinstance(piece, str) else piece.text for piece in pieces)


def ends(low: float, high: float, places: int | None) -> Pieces:
    """`0.12 … 0.54`."""
    return (ShownNumber(low, places), TO, ShownNumber(high, places))


def share(fraction: float) -> Pieces:
    """A dimensionless fraction in percent with two significant digits, as for a coefficient of variation."""
    percent = 100 * fraction
    return (ShownNumber(percent, max(0, decimals(abs(percent)) or 0)), PERCENT)


def factor(value: float) -> Pieces:
    """Ratios, effect sizes and probabilities, with two decimals."""
    return (ShownNumber(value, 2),)


def whole(n: float) -> Pieces:
    """A count with thousands separators."""
    return (ShownNumber(n, style="grouped"),)


def p_value(value: float) -> Pieces:
    """A p-value as in a sentence: `p = 0.004`, `p < 0.001`."""
    return ("p " if p_cell(value).startswith("<") else "p = ", ShownNumber(value, style="p"))


def append_unit(pieces: Pieces, unit: str) -> Pieces:
    return (*pieces, f" {unit}") if unit else pieces


def duration_of(seconds: float) -> Pieces:
    """A duration in its two largest units, `3 min 5 s`."""
    return tuple(part if isinstance(part, str) else ShownNumber(*part) for part in duration_parts(seconds))
