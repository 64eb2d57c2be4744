"""Hazards: kinds of code that can make runs differ. Each is a function that registers itself when it is imported."""

from deviate.analysis.hazards.registry import GROUPS, HAZARDS, Kind, find_hazards

__all__ = ["GROUPS", "HAZARDS", "Kind", "find_hazards"]
