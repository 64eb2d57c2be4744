"""Where values come from."""

from deviate.analysis.resolve.origin.kinds import Origin
from deviate.analysis.resolve.origin.origins import Origins

__all__ = ["Origin", "Origins"]
