"""Renderers: one file per form of the report, registered by name."""

from deviate.report.renderers import csv, html, json, latex, markdown, terminal
from deviate.report.renderers.registry import RENDERERS, render

__all__ = ["RENDERERS", "csv", "html", "json", "latex", "markdown", "render", "terminal"]
