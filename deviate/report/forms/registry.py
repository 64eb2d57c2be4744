"""Forms by name: of documents, and of reports."""

from typing import TYPE_CHECKING

from deviate.report.form_registry import Forms

if TYPE_CHECKING:
    from deviate.report.document import Document
    from deviate.report.view import View

REPORTS: "Forms[View]" = Forms("report", "deviate.report.forms", "deviate.forms")
renderer, render, RENDERERS = REPORTS.form, REPORTS.render, REPORTS.functions
DOCUMENTS: "Forms[Document]" = Forms("document", "deviate.report.forms")
document_form, write = DOCUMENTS.form, DOCUMENTS.render
