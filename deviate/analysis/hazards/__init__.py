"""Hazards: one file per kind of code that can make runs differ. Each registers itself when it is imported."""

from deviate.analysis.hazards.find import find_hazards
from deviate.analysis.hazards.registry import GROUPS, HAZARDS, Kind

__all__ = ["GROUPS", "HAZARDS", "Kind", "find_hazards"]
