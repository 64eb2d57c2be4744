"""The values behind a document as CSV in long form, from which anyone can compute every number again."""

import csv
import io
from collections.abc import Iterable

from deviate.report.data.scores import score_rows
from deviate.report.document import Document
from deviate.report.form_registry import Medium
from deviate.report.forms.registry import document_form, renderer
from deviate.report.view import View


@document_form("csv")
def write_csv(document: Document, _medium: Medium) -> str:
    """Numbers with all bits; what there is not is empty."""
    return csv_text(document.rows())


@renderer("csv")
def render_csv(view: View, _surface: Medium) -> str:
    """Scores keep all bits; a run without a score has an empty one, and its status says why."""
    return csv_text(score_rows(view.findings))


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows(rows)
    return buffer.getvalue()
