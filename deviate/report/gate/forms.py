"""The register of the forms of checks."""

from typing import TYPE_CHECKING

from deviate.report.forms import Forms

if TYPE_CHECKING:
    from deviate.report.gate.view import CheckView

CHECK_FORMS = {"github": "github", "json": "json", "junit": "junit", "markdown": "text", "terminal": "text"}
CHECKS: "Forms[CheckView]" = Forms("check", {name: f"deviate.report.gate.{it}" for name, it in CHECK_FORMS.items()})
check_form, render_check = CHECKS.form, CHECKS.render
