"""Where values come from."""

from .kinds import Origin
from .origins import Origins

__all__ = ["Origin", "Origins"]
