"""Hazards: one file per kind of code that can make runs differ. Each registers itself when it is imported."""

from .find import find_hazards
from .registry import GROUPS, HAZARDS, Kind

__all__ = ["GROUPS", "HAZARDS", "Kind", "find_hazards"]
