"""A report as a paper takes it: files for LaTeX, references, and answers for its checklist."""
