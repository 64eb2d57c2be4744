"""The register of forms: of documents, and of reports."""

from typing import TYPE_CHECKING

from deviate.report.form_registry import Forms

if TYPE_CHECKING:
    from deviate.report.document import Document
    from deviate.report.view import View

RENDERERS = ("csv", "html", "json", "latex", "markdown", "terminal")
HOMES = {name: f"deviate.report.forms.{name}" for name in RENDERERS}
REPORTS: "Forms[View]" = Forms("report", HOMES)
renderer, render = REPORTS.form, REPORTS.render
DOCUMENTS: "Forms[Document]" = Forms("document", HOMES)
document_form, write = DOCUMENTS.form, DOCUMENTS.render
