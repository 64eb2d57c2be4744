"""From an analysis to a frozen snapshot whose files carry taps."""

from deviate.instrument.again import take_over
from deviate.instrument.changes import changed_files
from deviate.instrument.prepared import note_prepared
from deviate.instrument.snapshot import freeze

__all__ = ["changed_files", "freeze", "note_prepared", "take_over"]
