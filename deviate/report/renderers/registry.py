"""The register of renderers: forms of reports."""

from deviate.report.forms import Forms
from deviate.report.view import View

REPORTS: Forms[View] = Forms("report")
RENDERERS, renderer, render = REPORTS.functions, REPORTS.form, REPORTS.render
