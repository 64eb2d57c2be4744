"""Known causes of runs that part, what points to each, and what removes it."""

from deviate.parting.causes.evidence import Evidence, gather_evidence
from deviate.parting.causes.find import find_causes

__all__ = ["Evidence", "find_causes", "gather_evidence"]
