"""The values behind a document as CSV in long form, from which anyone can compute every number again."""

import csv
import io

from deviate.report.document import Document
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium


@document_form("csv")
def render_csv(document: Document, _medium: Medium) -> str:
    """Numbers with all bits; what there is not is empty, as the score of a run whose status says why."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(document.rows())
    return buffer.getvalue()
