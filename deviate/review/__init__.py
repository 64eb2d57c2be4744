"""Review: the user looks over, in the terminal, what would be recorded."""

from typing import TYPE_CHECKING

from deviate.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.review.terminal import Terminal as Terminal
    from deviate.review.walk import Chosen as Chosen
    from deviate.review.walk import Screen as Screen
    from deviate.review.walk import review as review

load_on_first_use(
    __name__,
    {
        "deviate.review.terminal": ("Terminal",),
        "deviate.review.walk": (
            "Chosen",
            "Screen",
            "review",
        ),
    },
)
