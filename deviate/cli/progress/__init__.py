"""Progress displays: a live table on a terminal, plain lines elsewhere, nothing in quiet mode."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.cli.progress.means import mean_text as mean_text
    from deviate.cli.progress.watch import Display as Display
    from deviate.cli.progress.watch import display as display

load_on_first_use(__name__)
