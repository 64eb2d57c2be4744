"""Progress displays: a live table on a terminal, plain lines elsewhere, nothing in quiet mode."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.cli.progress.display import Display as Display
    from deviate.cli.progress.display import display as display
    from deviate.cli.progress.tally import mean_text as mean_text

load_on_first_use(__name__)
