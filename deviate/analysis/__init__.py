"""Analysis: what a training script trains and reports, known before it runs."""

from .additions import add_site, normalised
from .analyze import analyze
from .document import explain_nothing_found, to_document
from .entries import Entries, rank_scripts
from .joined import analyze_together
from .statements import Statements, read_statements

__all__ = [
    "Entries",
    "Statements",
    "add_site",
    "analyze",
    "analyze_together",
    "explain_nothing_found",
    "normalised",
    "rank_scripts",
    "read_statements",
    "to_document",
]
