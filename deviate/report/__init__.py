"""The report: findings become a view, the view becomes text."""

from deviate.report.build import build_view
from deviate.report.data.tables import TABLES, TableFile, table_files
from deviate.report.renderers import RENDERERS, render
from deviate.report.view import View

__all__ = ["RENDERERS", "TABLES", "TableFile", "View", "build_view", "render", "table_files"]
