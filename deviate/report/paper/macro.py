r"""One LaTeX command: a figure, or the sign that there is none with the reason behind its line."""

from dataclasses import dataclass

from deviate.model import Unavailable
from deviate.report.forms.tex import figure

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


def maths(text: str) -> str:
    """A figure that is right in a sentence and in a formula; a sign of percent stays with it."""
    digits, percent = text.removesuffix(" %"), r"\,\%" if text.endswith(" %") else ""
    sign, digits = ("= ", digits[2:]) if digits.startswith("= ") else ("", digits)
    return rf"\ensuremath{{{sign}{figure(digits).replace('$', '')}}}{percent}"
