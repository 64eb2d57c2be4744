"""The report as one HTML page from `templates/`: without network requests, readable without scripts."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import get_args

import jinja2
from markupsafe import Markup

from deviate.errors import ToolError
from deviate.report.document import (
    Absent,
    Block,
    Document,
    Facts,
    Fold,
    Items,
    Report,
    ReportFigure,
    Section,
)
from deviate.report.forms.csv import render_csv
from deviate.report.forms.json import embedded_json, render_json
from deviate.report.forms.markdown import escape as escape_markdown
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium
from deviate.report.plots import CurvePlot, EstimationPlot, Plot

POINTS_ON_PAGE = 110_000
"""Points of all curves together: about 18 bytes each, so that a page of any experiment stays well below 4 MB."""
MOST_DATA = 3_000_000
"""Characters of one document within the page; a longer one is beside it only."""
POINTS_OF_STABILITY = 40_000
"""What figures and tables of predictions and weights may take of that."""
SCRIPT = "report.js"
FEWEST_POINTS, MOST_POINTS = 24, 400
SPARK_WIDTH, MOST_SPARKS = 96, 60


@document_form("html")
def render_html(document: Document, medium: Medium) -> str:
    report, script = document if isinstance(document, Report) else None, source(SCRIPT)
    sections = [
        section if medium.is_full else _brief(section)
        for section in (*document.sections, *([] if report else _origin(document)))
        if medium.is_full or not section.is_folded
    ]
    absent = [section for section in sections if report and _is_absent(section)]
    plots = [figure.plot for section in sections for figure in _figures_in(section)]
    plots += [report.main_figure.plot] if report and report.main_figure else []
    has_captures = any(section.key == "stability" for section in sections if section not in absent)
    return template().render(
        document=document,
        report=report,
        sections=[section for section in sections if section not in absent],
        absent=[(section.heading, reasons) for section in absent if (reasons := _all_reasons(section))],
        figures=_figures(plots, _points_per_curve(plots, has_captures=has_captures)),
        data=json_in_html(_or_nothing(embedded_json(report) if report else render_json(document, medium))),
        policy=policy(script),
        script=trust(script),
        csv=base64.b64encode(_or_nothing(render_csv(document, medium)).encode()).decode(),
    )


def _origin(document: Document) -> Iterator[Section]:
    """What any other document has below its sections."""
    notes = Items(document.footnotes, "footnotes")
    yield Section("provenance", "Provenance", (Facts(document.facts), notes))
    yield Section("data", "Data", (Facts(()),))


def _brief(section: Section) -> Section:
    """The section without what only a full page has."""
    blocks = (
        _brief(block) if isinstance(block, Section) else block
        for block in section.blocks
        if not (isinstance(block, Fold) or (isinstance(block, Section) and block.is_folded))
    )
    return replace(section, blocks=tuple(blocks))


def _figures_in(section: Section) -> Iterator[ReportFigure]:
    for block in section.blocks:
        match block:
            case ReportFigure():
                yield block
            case Section() | Fold():
                yield from _figures_in(Section("", "", block.blocks))


def _is_absent(section: Section) -> bool:
    """Whether there is nothing in it but reasons, and notes on what is not there."""
    return all(
        isinstance(block, Absent)
        or (isinstance(block, Items) and block.kind == "footnotes" and section.key != "computed")
        or (isinstance(block, Section) and _is_absent(block))
        for block in section.blocks
    )


def _all_reasons(section: Section) -> tuple[str, ...]:
    return (*section.reasons, *(reason for part in section.parts for reason in _all_reasons(part)))


def _figures(plots: Iterable[Plot], n_points: int = MOST_POINTS) -> dict[str, Markup]:
    # matplotlib takes half a second to import, which a terminal report should not wait for.
    from deviate.report.figures.write import page_figure

    return {plot.key: trust(page_figure(plot, n_points)) for plot in plots}


def _or_nothing(text: str) -> str:
    return text if len(text) <= MOST_DATA else ""


def policy(script: str) -> str:
    """Content security policy of the page: no requests, and only its own script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def _points_per_curve(plots: Sequence[Plot], *, has_captures: bool) -> int:
    n_curves = sum(
        min(plot.n_lines, len(some))
        for plot in plots
        if isinstance(plot, CurvePlot)
        for group in plot.groups
        for some in (group.counted, group.failed)
    )
    room = POINTS_ON_PAGE - (POINTS_OF_STABILITY if has_captures else 0)
    return max(FEWEST_POINTS, min(MOST_POINTS, room // max(1, n_curves)))


def json_in_html(text: str) -> Markup:
    """JSON for a script element: `<`, `>` and `&` are written as escapes, so that it cannot end the element."""
    return trust(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def sparkline(plot: EstimationPlot) -> Markup:
    """The scores of every run, a row of points per experiment on one axis."""
    groups = plot.groups
    values = [value for group in groups for value in group.values]
    low, high = min(values), max(values)
    span, height = high - low or 1, 9 * len(groups)
    points = "".join(
        f'<circle class="series-{group.index}" style="fill: var(--series-{group.index % 6})" '
        f'cx="{4 + (value - low) / span * (SPARK_WIDTH - 8):.1f}" cy="{9 * row + 4.5}" r="2.5"/>'
        for row, group in enumerate(groups)
        for value in group.values[:MOST_SPARKS]
    )
    size = f'width="{SPARK_WIDTH}" height="{height}" viewBox="0 0 {SPARK_WIDTH} {height}"'
    return trust(f'<svg class="spark" {size} aria-hidden="true">{points}</svg>')


def trust(markup: str) -> Markup:
    """Mark own markup as safe; foreign text in it must be escaped already."""
    return Markup(markup)  # noqa: S704  the one place that says so


# Templates, in the installed package or at the top level of a checkout.

PAGE = "report.html.j2"
BLOCKS = tuple(kind for kind in get_args(Block) if kind is not str)
"""What templates tell apart, each by its name in lower case."""


@cache
def template(name: str = PAGE) -> jinja2.Template:
    """A template with autoescaping that fails on undefined names.

    Raises:
        ToolError: the templates are not where they belong, or one is broken.
    """
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests |= {kind.__name__.lower(): partial(_is_a, kind) for kind in BLOCKS}
    environment.filters |= {"sparkline": sparkline, "markdown": lambda text: trust(escape_markdown(text))}
    try:
        return environment.get_template(name)
    except jinja2.TemplateError as error:
        raise ToolError(f"the report template {name} cannot be used: {error}", "install deviate again") from error


def _is_a(kind: type, value: object) -> bool:
    return isinstance(value, kind)


def source(name: str) -> str:
    """The contents of a file in the template folder, for inclusion in a page.

    Raises:
        ToolError: it is not where it belongs.
    """
    folder = _folder(files("deviate"))
    try:
        return folder.joinpath(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ToolError(
            f"the report template {folder / name} cannot be read: {error.strerror}", "install deviate again"
        ) from error


def _folder(package: Traversable) -> Traversable:
    """`templates/` in the installed package (wheel), else beside the package (checkout, editable install)."""
    candidates = [package / "templates"]
    if isinstance(package, Path):
        candidates.append(package.parent / "templates")
    for folder in candidates:
        if (folder / PAGE).is_file():
            return folder
    looked = " and ".join(str(folder) for folder in candidates)
    raise ToolError(f"the report templates are missing: looked in {looked}", "install deviate again")
