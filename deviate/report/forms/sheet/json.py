"""A sheet as strict JSON: every figure unrounded, reasons where there is none."""

from deviate.report.form_registry import Medium
from deviate.report.forms.json import document_text
from deviate.report.forms.sheet.forms import sheet_form
from deviate.report.view.sheet import Sheet


@sheet_form("json")
def render_json(sheet: Sheet, _surface: Medium) -> str:
    """NaN and infinities are strings; `{"unavailable": reason}` stands for a figure that there is not."""
    return document_text(sheet.schema, sheet.data, sheet.warnings)
