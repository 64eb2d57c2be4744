"""What the text of a document is for."""

from dataclasses import dataclass

COLUMN_IN = 3.25
"""Width of a column of a paper in inches. Source: ICML 2025 style; NeurIPS has one column of 5.5."""


@dataclass(frozen=True, slots=True)
class Medium:
    """What the text is for: columns of a terminal, and whether it understands control codes; packages of a document."""

    width: int = 120
    is_coloured: bool = False
    has_siunitx: bool = False
