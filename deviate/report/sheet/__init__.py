"""A sheet: a short document of sentences, tables and figures, and every form of it, registered."""

from typing import TYPE_CHECKING

from deviate.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.sheet.forms import SHEET_FORMS as SHEET_FORMS
    from deviate.report.sheet.forms import render_sheet as render_sheet
    from deviate.report.sheet.view import Sheet as Sheet
    from deviate.report.sheet.view import SheetFigure as SheetFigure
    from deviate.report.sheet.view import SheetSection as SheetSection
    from deviate.report.sheet.view import SheetTable as SheetTable

load_on_first_use(
    __name__,
    {
        "deviate.report.sheet.forms": ("SHEET_FORMS", "render_sheet"),
        "deviate.report.sheet.view": ("Sheet", "SheetFigure", "SheetSection", "SheetTable"),
    },
)
