"""Analysis: what a training script trains and reports, known before it runs."""

from .analyze import analyze
from .document import explain_nothing_found, to_document

__all__ = ["analyze", "explain_nothing_found", "to_document"]
