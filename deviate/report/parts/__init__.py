"""Builds the parts of a report from findings: decides what is said, and in which order."""
