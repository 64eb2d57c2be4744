"""Parts of a view that stand everywhere: cells, facts, tones."""

from dataclasses import dataclass, field
from typing import Literal

LONGEST_NUMBER = 40

Tone = Literal["good", "bad", "neutral"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as text, or, with `is_reason`, why there is none.

    Attributes:
        value: the number unrounded, by which a table is sorted; None for words and reasons.
    """

    text: str
    is_reason: bool = False
    value: float | None = field(default=None, compare=False, kw_only=True)

    @property
    def is_number(self) -> bool:
        """Whether it stands in a column of numbers as one; a test with its remarks is a sentence."""
        return self.value is not None and len(self.text) <= LONGEST_NUMBER


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled piece of provenance."""

    label: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; the cells follow its headers, and a note stands below it."""

    label: str
    cells: tuple[Cell, ...]
    note: str = ""
