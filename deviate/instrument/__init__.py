"""Converts an analysis to a frozen snapshot with taps in its files."""
