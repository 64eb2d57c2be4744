"""The values behind a document as CSV in long form, from which every number can be recomputed."""

import csv
import io

from deviate.report.document import Document
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium


@document_form("csv")
def render_csv(document: Document, _medium: Medium) -> str:
    """Numbers are exact; missing values are empty, such as scores of failed runs, whose status is given."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(document.rows())
    return buffer.getvalue()
