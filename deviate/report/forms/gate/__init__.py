"""A check as text: its view, and every form of it, registered."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.forms.gate.forms import CHECK_FORMS as CHECK_FORMS
    from deviate.report.forms.gate.forms import render_check as render_check

load_on_first_use(
    __name__,
    {
        "deviate.report.forms.gate.forms": ("CHECK_FORMS", "render_check"),
    },
)
