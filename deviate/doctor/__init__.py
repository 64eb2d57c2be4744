"""Asks the interpreter of the user what frameworks it has, tries what can be controlled with them, and judges."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.doctor.document import to_document as to_document
    from deviate.doctor.examine import TIMEOUT_S as TIMEOUT_S
    from deviate.doctor.examine import examine as examine

load_on_first_use(__name__)
