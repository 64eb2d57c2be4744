"""Form `shout`: the question of a report in capitals."""

from typing import Any

from deviate.report import renderer


@renderer("shout")
def shout(view: Any, medium: Any) -> str:
    return f"{type(view).__name__} {medium.width}\n".upper()
