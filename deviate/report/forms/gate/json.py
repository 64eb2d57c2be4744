"""A check as strict JSON: every figure unrounded, for a program that wants more than an exit code."""

from deviate.report.data.document import CHECK_SCHEMA
from deviate.report.data.plain import document_data
from deviate.report.form_registry import Medium
from deviate.report.forms.gate.forms import check_form
from deviate.report.forms.json import json_text
from deviate.report.view.check import CheckView


@check_form("json")
def render_json(view: CheckView, _screen: Medium) -> str:
    """As its published schema says, `deviate.report.data.schema.check_schema`."""
    return json_text(document_data(CHECK_SCHEMA, view.findings, view.warnings))
