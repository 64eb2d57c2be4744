r"""A LaTeX command for one number, or for a placeholder with the reason why the number is missing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deviate.model import Estimate, Interval, Unavailable
from deviate.report.forms.tex import typeset
from deviate.report.numbers import PERCENT, Piece, Pieces

MISSING = "--"
"""What stands in the text where there is no figure: seen by whoever reads it."""


@dataclass(frozen=True, slots=True)
class Macro:
    """A command; `remark` is the reason for a missing number, or a caveat."""

    name: str
    body: str
    remark: str = ""

    def behind(self, prefix: str) -> "Macro":
        """A copy of the command with a prefix before its name."""
        return Macro(f"deviate{prefix}{self.name}", self.body, self.remark)


def missing(name: str, why: Unavailable) -> Macro:
    return Macro(name, MISSING, why.reason)


def maths(*pieces: Piece) -> str:
    """A number that works in text and in math mode; a percent sign stays with it."""
    numbers, percent = (pieces[:-1], r"\,\%") if pieces[-1] == PERCENT else (pieces, "")
    return rf"\ensuremath{{{typeset(numbers).replace('$', '')}}}{percent}"


def of_estimate(name: str, value: Estimate, written: Callable[[float], Pieces], note: str = "") -> Macro:
    return missing(name, value) if isinstance(value, Unavailable) else Macro(name, maths(*written(value)), note)


def of_ends(name: str, interval: Interval | Unavailable, written: Callable[[float], Pieces]) -> Iterator[Macro]:
    for end in ("Low", "High"):
        if isinstance(interval, Unavailable):
            yield missing(f"{name}{end}", interval)
        else:
            value = interval.low if end == "Low" else interval.high
            yield Macro(f"{name}{end}", maths(*written(value)), interval.note)
