"""The report as one HTML page that asks the network for nothing and needs no script to be read."""

import base64
import hashlib

from markupsafe import Markup

from deviate.report.renderers.csv import render_csv
from deviate.report.renderers.json import embedded_json
from deviate.report.renderers.registry import Surface, renderer
from deviate.report.templates import source, template
from deviate.report.view import View

POINTS_ON_PAGE = 110_000
"""Points of all curves together: about 18 bytes each, so that a page of any experiment stays well below 4 MB."""
SCRIPT = "report.js"
FEWEST_POINTS, MOST_POINTS = 24, 400


@renderer("html")
def render_html(view: View, surface: Surface) -> str:
    # matplotlib takes half a second to import, which a terminal report should not wait for.
    from deviate.report.data.embedded import embedded_curves
    from deviate.report.figures import (
        draw_breakdown,
        draw_curves,
        draw_difference,
        draw_estimation,
        draw_forest,
        draw_planning,
        draw_profiles,
        draw_ranks,
        draw_survival,
    )

    n_points = _points_per_curve(view)
    page, script = template(), source(SCRIPT)
    embedded = embedded_curves(view.findings)
    return page.render(
        view=view,
        policy=_policy(script),
        script=_trusted(script),
        estimations={it.anchor: _trusted(draw_estimation(it.estimation)) for it in view.metrics if it.estimation},
        curves={it.anchor: _trusted(draw_curves(it.curve, n_points)) for it in view.metrics if it.curve},
        forests={
            it.anchor: _trusted(draw_forest(it.forest)) for it in (view.noise.tables if view.noise else ()) if it.forest
        },
        task_figures={
            name: _trusted(markup)
            for name, markup in (
                ("ranks", draw_ranks(view.tasks.ranks) if view.tasks and view.tasks.ranks else ""),
                ("profile", draw_profiles(view.tasks.profile) if view.tasks and view.tasks.profile else ""),
            )
        },
        outcome_figures={
            **{it.key: _trusted(draw_survival(it)) for it in (view.outcomes.survival if view.outcomes else ())},
            **{it.key: _trusted(draw_difference(it)) for it in (view.outcomes.differences if view.outcomes else ())},
        },
        breakdown_figures={it.anchor: _trusted(draw_breakdown(it.plot)) for it in view.breakdowns.sections if it.plot},
        planning_figures={it.anchor: _trusted(draw_planning(it.plot)) for it in view.planning.parts if it.plot},
        data=_json_in_html(embedded_json(view)),
        curve_data=_json_in_html(embedded.text),
        curve_note=embedded.note,
        csv=base64.b64encode(render_csv(view, surface).encode()).decode(),
    )


def _policy(script: str) -> str:
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
    return max(FEWEST_POINTS, min(MOST_POINTS, POINTS_ON_PAGE // max(1, n_curves)))


def _json_in_html(text: str) -> Markup:
    """JSON that no HTML parser can leave early: the same values with `<`, `>` and `&` written as escapes."""
    return _trusted(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _trusted(markup: str) -> Markup:
    """Our own markup, in which foreign text is escaped already."""
    return Markup(markup)  # noqa: S704  the one place that says so
