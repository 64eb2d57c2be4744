"""Form `shout`: the question of a report in capitals."""

from typing import Any

from deviate.report import document_form


@document_form("shout")
def shout(document: Any, medium: Any) -> str:
    return f"{type(document).__name__} {medium.width}\n".upper()
