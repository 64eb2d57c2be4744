"""Renderers: one file per form of the report, registered by name."""

from typing import TYPE_CHECKING

from deviate.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.renderers.registry import render as render

load_on_first_use(
    __name__,
    {
        "deviate.report.renderers.registry": ("render",),
    },
)
