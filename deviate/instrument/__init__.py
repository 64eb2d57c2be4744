"""From an analysis to a frozen snapshot whose files carry taps."""

from deviate.instrument.snapshot import freeze

__all__ = ["freeze"]
