"""A sheet: a short document of sentences, tables and figures, and every form of it, registered."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.forms.sheet.forms import SHEET_FORMS as SHEET_FORMS
    from deviate.report.forms.sheet.forms import render_sheet as render_sheet
    from deviate.report.view.sheet import Sheet as Sheet
    from deviate.report.view.sheet import SheetFigure as SheetFigure
    from deviate.report.view.sheet import SheetSection as SheetSection
    from deviate.report.view.sheet import SheetTable as SheetTable

load_on_first_use(
    __name__,
    {
        "deviate.report.forms.sheet.forms": ("SHEET_FORMS", "render_sheet"),
        "deviate.report.view.sheet": ("Sheet", "SheetFigure", "SheetSection", "SheetTable"),
    },
)
