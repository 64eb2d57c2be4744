"""A report as a paper takes it: files for LaTeX, references, and answers for its checklist."""

from deviate.report.paper.files import Style, paper_files

__all__ = ["Style", "paper_files"]
