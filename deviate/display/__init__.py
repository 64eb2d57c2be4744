"""What a user sees while runs go on: a live table on a terminal, plain lines elsewhere, nothing when quiet."""

from deviate.display.means import mean_text
from deviate.display.watch import Display, display

__all__ = ["Display", "display", "mean_text"]
