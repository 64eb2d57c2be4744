"""Findings become parts of a report: what is said, in which order."""
