"""Converts an analysis to a frozen snapshot with taps in its files."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.instrument.snapshot import changed_files as changed_files
    from deviate.instrument.snapshot import freeze as freeze
    from deviate.instrument.snapshot import is_current as is_current
    from deviate.instrument.snapshot import note_prepared as note_prepared
    from deviate.instrument.snapshot import take_over as take_over
    from deviate.instrument.snapshot import travelling_plugins as travelling_plugins
    from deviate.instrument.tree import COPY_BELOW as COPY_BELOW
    from deviate.instrument.tree import CROWD_ABOVE as CROWD_ABOVE
    from deviate.instrument.tree import CROWD_BYTES as CROWD_BYTES
    from deviate.instrument.tree import LEFT_OUT as LEFT_OUT
    from deviate.instrument.tree import LINK_WHOLE_ABOVE as LINK_WHOLE_ABOVE
    from deviate.instrument.tree import survey_of as survey_of

load_on_first_use(__name__)
