"""A sheet: a short document of sentences, tables and figures, and every form of it, registered."""

from deviate.report.sheet import csv, html, json, latex, markdown, terminal
from deviate.report.sheet.forms import SHEET_FORMS, render_sheet
from deviate.report.sheet.view import Sheet, SheetFigure, SheetSection, SheetTable

__all__ = [
    "SHEET_FORMS",
    "Sheet",
    "SheetFigure",
    "SheetSection",
    "SheetTable",
    "csv",
    "html",
    "json",
    "latex",
    "markdown",
    "render_sheet",
    "terminal",
]
