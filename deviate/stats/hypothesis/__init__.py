"""Hypothesis tests and their intervals."""
