"""The guest: records and controls a run from inside the user's own Python process."""

from .guest import start

__all__ = ["start"]
