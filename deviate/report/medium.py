"""The medium that a document is rendered for."""

from dataclasses import dataclass

COLUMN_IN = 3.25
"""Width of a column of a paper in inches. Source: ICML 2025 style; NeurIPS has one column of 5.5."""
WHOLE = 1_000_000
"""Columns of a pipe or a file, where no line is broken and nothing is left out."""


@dataclass(frozen=True, slots=True)
class Medium:
    """Properties of the medium: width of a terminal and support of control codes, or packages of a LaTeX document.

    Attributes:
        is_full: a page with every quantity and figure of each metric, which has no room for them otherwise.
    """

    width: int = 120
    is_coloured: bool = False
    has_siunitx: bool = False
    is_full: bool = False
