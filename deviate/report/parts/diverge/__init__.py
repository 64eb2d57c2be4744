"""Where two runs diverge, as a document: the answer first, then the details."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.parts.diverge.document import diverge_document as diverge_document

load_on_first_use(__name__)
