"""The public functions for notebooks and scripts: scores of any kind in, results that show themselves out."""

from deviate.notebook.ask import compare, describe, read
from deviate.notebook.display import show_in_notebook
from deviate.notebook.figure import Figure
from deviate.notebook.results import Results

__all__ = ["Figure", "Results", "compare", "describe", "read"]

show_in_notebook()
