"""The register of the forms of checks."""

from typing import TYPE_CHECKING

from deviate.report.form_registry import Forms

if TYPE_CHECKING:
    from deviate.report.view.check import CheckView

CHECK_FORMS = {"github": "github", "json": "json", "junit": "junit", "markdown": "text", "terminal": "text"}
CHECKS: "Forms[CheckView]" = Forms(
    "check", {name: f"deviate.report.forms.gate.{it}" for name, it in CHECK_FORMS.items()}
)
check_form, render_check = CHECKS.form, CHECKS.render
