"""The values of a sheet as CSV in long form, with all bits."""

import csv
import io

from deviate.report.data.scores import plain_text
from deviate.report.form_registry import Medium
from deviate.report.forms.sheet.forms import sheet_form
from deviate.report.view.sheet import Sheet


@sheet_form("csv")
def render_csv(sheet: Sheet, _surface: Medium) -> str:
    """Numbers as they are; text that no spreadsheet takes for a formula."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([_cell(it) for it in row] for row in sheet.csv_rows)
    return buffer.getvalue()


def _cell(text: str) -> str:
    try:
        float(text)
    except ValueError:
        return plain_text(text)
    return text
