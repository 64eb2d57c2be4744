"""Hazards: one file per kind of code that can make runs differ. Each registers itself when it is imported."""

from deviate.analysis.hazards.registry import GROUPS, HAZARDS, Kind, find_hazards

__all__ = ["GROUPS", "HAZARDS", "Kind", "find_hazards"]
