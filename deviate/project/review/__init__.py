"""Review: the user checks in the terminal what will be recorded."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.project.review.terminal import Terminal as Terminal
    from deviate.project.review.walk import Screen as Screen
    from deviate.project.review.walk import review as review

load_on_first_use(__name__)
