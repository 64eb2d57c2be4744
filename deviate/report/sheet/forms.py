"""The register of the forms of sheets."""

from deviate.report.forms import Forms
from deviate.report.sheet.view import Sheet

SHEETS: Forms[Sheet] = Forms("sheet")
SHEET_FORMS, sheet_form, render_sheet = SHEETS.functions, SHEETS.form, SHEETS.render
