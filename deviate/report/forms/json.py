"""What a program reads of a document: strict JSON, every number unrounded, reasons where there is none."""

import json

from deviate.report.document import Document, Report
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium


@document_form("json")
def render_json(document: Document, _medium: Medium) -> str:
    """NaN and infinities are strings; `{"unavailable": reason}` stands for a number that there is not."""
    return json.dumps(document.data(), allow_nan=False, indent=1) + "\n"


def embedded_json(report: Report) -> str:
    """The same in one line and without numbers per step, per pair of runs, or per run and class or criterion."""
    return json.dumps(report.embedded(), allow_nan=False, separators=(",", ":")) + "\n"
