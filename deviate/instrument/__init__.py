"""From an analysis to a frozen snapshot whose files carry taps."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.instrument.again import take_over as take_over
    from deviate.instrument.changes import changed_files as changed_files
    from deviate.instrument.prepared import note_prepared as note_prepared
    from deviate.instrument.snapshot import freeze as freeze

load_on_first_use(
    __name__,
    {
        "deviate.instrument.again": ("take_over",),
        "deviate.instrument.changes": ("changed_files",),
        "deviate.instrument.prepared": ("note_prepared",),
        "deviate.instrument.snapshot": ("freeze",),
    },
)
