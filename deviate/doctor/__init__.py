"""Asks the user's interpreter for its frameworks, tests what can be controlled in them, and judges the answers."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.doctor.examine import TIMEOUT_S as TIMEOUT_S
    from deviate.doctor.examine import examine as examine
    from deviate.doctor.examine import to_document as to_document

load_on_first_use(__name__)
