"""A document as strict JSON for programs: unrounded numbers, and reasons for missing ones."""

import json

from deviate.report.document import Document, Report
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium


@document_form("json")
def render_json(document: Document, _medium: Medium) -> str:
    """NaN and infinities are strings; `{"unavailable": reason}` stands for a number that there is not."""
    return json.dumps(document.data(), allow_nan=False, indent=1) + "\n"


def embedded_json(report: Report) -> str:
    """JSON on one line without values per step, per pair of runs, or per run and class or criterion."""
    return json.dumps(report.data(without_drawn=True), allow_nan=False, separators=(",", ":")) + "\n"
