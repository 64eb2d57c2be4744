"""The report: findings become a view, the view becomes text."""

from typing import TYPE_CHECKING

from deviate.base.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.report.data.tables import TABLES as TABLES
    from deviate.report.data.tables import TableFile as TableFile
    from deviate.report.data.tables import table_files as table_files
    from deviate.report.forms.registry import RENDERERS as RENDERERS
    from deviate.report.forms.registry import render as render
    from deviate.report.parts.build import build_view as build_view
    from deviate.report.view import View as View

load_on_first_use(
    __name__,
    {
        "deviate.report.parts.build": ("build_view",),
        "deviate.report.data.tables": (
            "TABLES",
            "TableFile",
            "table_files",
        ),
        "deviate.report.forms.registry": ("RENDERERS", "render"),
        "deviate.report.view": ("View",),
    },
)
