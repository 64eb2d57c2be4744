"""Form `chat`: a report as a message of a few lines."""

from deviate.report.document import Document
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium


@document_form("chat")
def write_for_a_chat(document: Document, medium: Medium) -> str:
    """The title and the sentences to paste, with the warnings."""
    return "\n".join([f"*{document.title}*", *document.paste, *document.warnings]) + "\n"
