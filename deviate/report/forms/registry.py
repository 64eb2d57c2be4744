"""Renderers by name: forms of reports."""

from typing import TYPE_CHECKING

from deviate.report.form_registry import Forms

if TYPE_CHECKING:
    from deviate.report.view import View

REPORTS: "Forms[View]" = Forms("report", "deviate.report.forms", "deviate.forms")
renderer, render, RENDERERS = REPORTS.form, REPORTS.render, REPORTS.functions
