"""Review: the user looks over, in the terminal, what would be recorded."""

from .terminal import Terminal
from .walk import Chosen, Screen, review

__all__ = ["Chosen", "Screen", "Terminal", "review"]
