"""The public functions for notebooks and scripts: scores of any kind in, results that show themselves out."""

from deviate.api.figure import Figure
from deviate.api.functions import compare, describe, read
from deviate.api.results import Results, show_in_notebook

__all__ = ["Figure", "Results", "compare", "describe", "read"]

show_in_notebook()
