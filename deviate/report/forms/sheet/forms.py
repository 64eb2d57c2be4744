"""The forms of sheets by name."""

from typing import TYPE_CHECKING

from deviate.report.form_registry import Forms

if TYPE_CHECKING:
    from deviate.report.view.sheet import Sheet

SHEETS: "Forms[Sheet]" = Forms("sheet", "deviate.report.forms.sheet")
sheet_form, render_sheet, SHEET_FORMS = SHEETS.form, SHEETS.render, SHEETS.functions
