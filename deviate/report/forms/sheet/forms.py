"""The register of the forms of sheets."""

from typing import TYPE_CHECKING

from deviate.report.form_registry import Forms

if TYPE_CHECKING:
    from deviate.report.view.sheet import Sheet

SHEET_FORMS = ("csv", "html", "json", "latex", "markdown", "terminal")
SHEETS: "Forms[Sheet]" = Forms("sheet", {name: f"deviate.report.forms.sheet.{name}" for name in SHEET_FORMS})
sheet_form, render_sheet = SHEETS.form, SHEETS.render
