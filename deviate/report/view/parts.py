"""Parts of a view that stand everywhere: cells, facts, tones."""

from dataclasses import dataclass, field
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled piece of provenance."""

    label: str
    cell: Cell
