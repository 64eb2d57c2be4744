"""A check as text: its view, and every form of it, registered."""

from deviate.report.gate import github, json, junit, text
from deviate.report.gate.forms import CHECK_FORMS, render_check

__all__ = ["CHECK_FORMS", "github", "json", "junit", "render_check", "text"]
