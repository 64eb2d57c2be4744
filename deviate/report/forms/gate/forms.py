"""The forms of checks by name."""

from typing import TYPE_CHECKING

from deviate.report.form_registry import Forms

if TYPE_CHECKING:
    from deviate.report.view.check import CheckView

CHECKS: "Forms[CheckView]" = Forms("check", "deviate.report.forms.gate")
check_form, render_check, CHECK_FORMS = CHECKS.form, CHECKS.render, CHECKS.functions
