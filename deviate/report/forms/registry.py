"""The register of renderers: forms of reports."""

from typing import TYPE_CHECKING

from deviate.report.form_registry import Forms

if TYPE_CHECKING:
    from deviate.report.view import View

RENDERERS = ("csv", "html", "json", "latex", "markdown", "terminal")
REPORTS: "Forms[View]" = Forms("report", {name: f"deviate.report.forms.{name}" for name in RENDERERS})
renderer, render = REPORTS.form, REPORTS.render
