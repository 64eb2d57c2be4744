"""Side effects: what a run changes outside its work copy, found in the source."""

from deviate.analysis.side_effects.find import find_side_effects

__all__ = ["find_side_effects"]
