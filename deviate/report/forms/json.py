"""What a program reads of a report: strict JSON, every number unrounded, reasons where there is none."""

import json

from deviate.report.data.document import SCHEMA
from deviate.report.data.plain import document_data
from deviate.report.document import Document
from deviate.report.form_registry import Medium
from deviate.report.forms.registry import document_form, renderer
from deviate.report.view import View


@document_form("json")
def write_json(document: Document, _medium: Medium) -> str:
    """NaN and infinities are strings; `{"unavailable": reason}` stands for a number that there is not."""
    return json_text(document.data())


@renderer("json")
def render_json(view: View, _surface: Medium) -> str:
    return json_text(document_data(SCHEMA, view.findings, view.warnings))


def json_text(data: object) -> str:
    return json.dumps(data, allow_nan=False, indent=1) + "\n"


def embedded_json(view: View) -> str:
    """The same in one line and without numbers per step, per pair of runs, or per run and class or criterion."""
    data = document_data(SCHEMA, view.findings, view.warnings, without_drawn=True)
    return json.dumps(data, allow_nan=False, separators=(",", ":")) + "\n"
