"""A check as workflow commands of GitHub Actions: annotations beside the lines of a pull request.

Source: GitHub, "Workflow commands for GitHub Actions"; escapes as in actions/toolkit, packages/core/src/command.ts.
"""

from deviate.report.document import Case, Document, check_of
from deviate.report.forms.registry import document_form
from deviate.report.medium import Medium

LEVELS = {"failed": "error", "error": "error", "undecided": "warning", "absent": "notice"}
MOST = 10
"""GitHub shows no more annotations of a level and step."""


@document_form("github")
def render_github(document: Document, _medium: Medium) -> str:
    """One command per line: the result, failures, then warnings, then notices."""
    check = check_of(document)
    cases = [(_level(case), case) for case in check.cases if case.outcome != "passed"]
    lines = [
        _annotation(level, case)
        for wanted in ("error", "warning", "notice")
        for level, case in cases
        if level == wanted
    ]
    n_warnings = sum(level == "warning" for level, _ in cases)
    lines += [command("warning", text, title="deviate check") for text in check.warnings[: max(0, MOST - n_warnings)]]
    level = "error" if check.code else "warning" if check.word == "undecided" else "notice"
    result = command(level, check.result, title=f"deviate check: {check.word}")
    return "\n".join([result, *lines]) + "\n"


def command(level: str, message: str, **properties: str) -> str:
    r"""A workflow command; what would end it, or begin another one, is escaped.

    >>> command("error", "50% lost\nsee log", title="acc: a,b")
    '::error title=acc%3A a%2Cb::50%25 lost%0Asee log'
    """
    property_text = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{level}{' ' if property_text else ''}{property_text}::{_data(message)}"


def shield_lines(text: str, token: str) -> str:
    r"""Lines for people, of which none is obeyed, though the name of a metric began it like a command.

    Args:
        token: what no text can have foreseen.

    Source: GitHub, "Stopping and starting workflow commands".

    >>> shield_lines("::error::is a name\n", "c0ffee")
    '::stop-commands::c0ffee\n::error::is a name\n::c0ffee::\n'
    """
    return f"::stop-commands::{token}\n{text}::{token}::\n"


def _level(case: Case) -> str:
    return "error" if case.fails else LEVELS[case.outcome]


def _annotation(level: str, case: Case) -> str:
    message = "\n".join(filter(None, (case.headline, case.reason, case.advice)))
    return command(
        level, message, title=f"deviate check: {case.name}", file=case.file, line=str(case.line) if case.file else ""
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
