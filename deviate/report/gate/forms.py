"""The register of the forms of checks."""

from deviate.report.forms import Forms
from deviate.report.gate.view import CheckView

CHECKS: Forms[CheckView] = Forms("check")
CHECK_FORMS, check_form, render_check = CHECKS.functions, CHECKS.form, CHECKS.render
