"""Parts of a view that stand everywhere: cells, facts, tones."""

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "bad", "neutral"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number as text, or, with `is_reason`, why there is none."""

    text: str
    is_reason: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled piece of provenance."""

    label: str
    cell: Cell
