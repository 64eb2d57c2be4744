r"""One LaTeX command: a figure, or the sign that there is none with the reason behind its line."""

from dataclasses import dataclass

from deviate.model import Unavailable
from deviate.report.forms.tex import typeset
from deviate.report.numbers import PERCENT, Piece

MISSING = "--"
"""What stands in the text where there is no figure: seen by whoever reads it."""


@dataclass(frozen=True, slots=True)
class Macro:
    """A command; `remark` is why there is no figure, or what a reader must know of it."""

    name: str
    body: str
    remark: str = ""


def missing(name: str, why: Unavailable) -> Macro:
    return Macro(name, MISSING, why.reason)


def maths(*pieces: Piece) -> str:
    """A number that is right in a sentence and in a formula; a sign of percent stays with it."""
    numbers, percent = (pieces[:-1], r"\,\%") if pieces[-1] == PERCENT else (pieces, "")
    return rf"\ensuremath{{{typeset(numbers).replace('$', '')}}}{percent}"
