"""Estimates and their intervals: one sample, or the difference of two."""
