"""Tests of hypotheses, and the intervals that belong to them."""
