"""Form `chat`: a report as a message of a few lines."""

from deviate.report import Document, Medium, document_form


@document_form("chat")
def write_for_a_chat(document: Document, medium: Medium) -> str:
    """The title and the sentences to paste, with the warnings."""
    return "\n".join([f"*{document.title}*", *document.paste, *document.warnings]) + "\n"
