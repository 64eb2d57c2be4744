"""A report as a paper takes it: files for LaTeX, references, and answers for its checklist."""

from deviate.report.paper.files import Style, paper_files
from deviate.report.pictures import COLUMN_IN

__all__ = ["COLUMN_IN", "Style", "paper_files"]
