"""Forms: a document becomes text. One file per form, registered by name."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.forms.registry import render as render

load_on_first_use(__name__)
