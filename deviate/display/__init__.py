"""What a user sees while runs go on: a live table on a terminal, plain lines elsewhere, nothing when quiet."""

from typing import TYPE_CHECKING

from deviate.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.display.means import mean_text as mean_text
    from deviate.display.watch import Display as Display
    from deviate.display.watch import display as display

load_on_first_use(
    __name__,
    {
        "deviate.display.means": ("mean_text",),
        "deviate.display.watch": (
            "Display",
            "display",
        ),
    },
)
