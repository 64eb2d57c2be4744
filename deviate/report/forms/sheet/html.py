"""A sheet as one HTML page, as the report is: no request, and no script needed to read it."""

import base64

from deviate.report.form_registry import Medium
from deviate.report.forms.html import SCRIPT, json_in_html, policy, trusted
from deviate.report.forms.sheet.csv import render_csv
from deviate.report.forms.sheet.forms import sheet_form
from deviate.report.forms.sheet.json import render_json
from deviate.report.forms.templates import source, template
from deviate.report.view.sheet import Sheet

PAGE = "sheet.html.j2"


@sheet_form("html")
def render_html(sheet: Sheet, surface: Medium) -> str:
    # matplotlib takes half a second to import, which a terminal should not wait for.
    from deviate.report.figures import page_figure

    script = source(SCRIPT)
    plots = [figure.plot for section in sheet.sections for figure in section.figures]
    return template(PAGE).render(
        sheet=sheet,
        policy=policy(script),
        script=trusted(script),
        figures={plot.key: trusted(page_figure(plot)) for plot in plots},
        data=json_in_html(render_json(sheet, surface)),
        csv=base64.b64encode(render_csv(sheet, surface).encode()).decode(),
    )
