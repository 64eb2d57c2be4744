"""Measure how much repeated training runs of one script differ, and what the differences mean."""

__version__ = "0.1.0"
