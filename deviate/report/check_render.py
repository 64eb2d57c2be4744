"""All forms of a check, registered, and the one function that renders them."""

from deviate.report import check_json, check_text
from deviate.report.check_forms import CHECK_FORMS, render_check
from deviate.report.renderers import github, junit

__all__ = ["CHECK_FORMS", "check_json", "check_text", "github", "junit", "render_check"]
