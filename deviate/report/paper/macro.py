r"""One LaTeX command: a figure, or the sign that there is none with the reason behind its line."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from deviate.model import Estimate, Interval, Unavailable
from deviate.report.forms.tex import typeset
from deviate.report.numbers import PERCENT, Piece, Pieces

MISSING = "--"
"""What stands in the text where there is no figure: seen by whoever reads it."""


@dataclass(frozen=True, slots=True)
class Macro:
    """A command; `remark` is why there is no figure, or what a reader must know of it."""

    name: str
    body: str
    remark: str = ""

    def behind(self, prefix: str) -> "Macro":
        """The same with its whole name."""
        return Macro(f"deviate{prefix}{self.name}", self.body, self.remark)


def missing(name: str, why: Unavailable) -> Macro:
    return Macro(name, MISSING, why.reason)


def maths(*pieces: Piece) -> str:
    """A number that is right in a sentence and in a formula; a sign of percent stays with it."""
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
