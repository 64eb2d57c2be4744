"""The report as one HTML page that asks the network for nothing and needs no script to be read."""

import base64
import hashlib

from markupsafe import Markup

from deviate.report.figures.pictures import pictures
from deviate.report.form_registry import Medium
from deviate.report.forms.csv import render_csv
from deviate.report.forms.json import embedded_json
from deviate.report.forms.registry import renderer
from deviate.report.forms.templates import source, template
from deviate.report.view import View

POINTS_ON_PAGE = 110_000
"""Points of all curves together: about 18 bytes each, so that a page of any experiment stays well below 4 MB."""
POINTS_OF_STABILITY = 40_000
"""What figures and tables of predictions and weights may take of that."""
SCRIPT = "report.js"
FEWEST_POINTS, MOST_POINTS = 24, 400


@renderer("html")
def render_html(view: View, surface: Medium) -> str:
    # matplotlib takes half a second to import, which a terminal report should not wait for.
    from deviate.report.data.embedded import embedded_curves
    from deviate.report.figures import page_figure

    n_points = _points_per_curve(view)
    script, embedded = source(SCRIPT), embedded_curves(view.findings)
    return template().render(
        view=view,
        policy=policy(script),
        script=trusted(script),
        figures={it.plot.key: trusted(page_figure(it.plot, n_points)) for it in pictures(view)},
        data=json_in_html(embedded_json(view)),
        curve_data=json_in_html(embedded.text),
        curve_note=embedded.note,
        csv=base64.b64encode(render_csv(view, surface).encode()).decode(),
    )


def policy(script: str) -> str:
    """What a browser may do with the page: no request, and no script but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def _points_per_curve(view: View) -> int:
    n_curves = sum(
        len(group.counted) + len(group.failed)
        for metric in view.metrics
        if metric.curve
        for group in metric.curve.groups
    )
    room = POINTS_ON_PAGE - (POINTS_OF_STABILITY if view.stability.parts else 0)
    return max(FEWEST_POINTS, min(MOST_POINTS, room // max(1, n_curves)))


def json_in_html(text: str) -> Markup:
    """JSON that no HTML parser can leave early: the same values with `<`, `>` and `&` written as escapes."""
    return trusted(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def trusted(markup: str) -> Markup:
    """Our own markup, in which foreign text is escaped already."""
    return Markup(markup)  # noqa: S704  the one place that says so
