"""A check as text for a terminal, and as Markdown for a pull request."""

import textwrap
from collections.abc import Iterator

from deviate.report.document import Case, Check
from deviate.report.forms.markdown_text import escape
from deviate.report.medium import Medium

NARROWEST = 40
COLOURS = {"failed": "\x1b[1;31m", "error": "\x1b[1;31m", "undecided": "\x1b[1;33m", "passed": "\x1b[1;32m"}
RESET = "\x1b[0m"
MARKS = {"passed": "pass", "failed": "**fail**", "error": "**incomplete**", "undecided": "undecided", "absent": "-"}


def check_lines(check: Check, screen: Medium) -> str:
    """A block per metric, one line for everything else that is in order, and the result at the end."""
    lines: list[str] = []
    for case in check.cases:
        lines += _block(case, screen)
    for warning in check.warnings:
        lines += _fill_lines(f"Warning  {warning}", screen, "         ")
    word = _paint(check.word, "passed" if check.code == 0 and check.word == "passed" else _worst(check), screen)
    lines += [""] if lines else []
    lines += [f"Result: {word}   {check.result}"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _block(case: Case, screen: Medium) -> Iterator[str]:
    if case.kind == "metric":
        head, *rest = _fill_lines(f"Check: {case.headline}", screen, "  ")
        yield head.replace(case.word, _paint(case.word, case.outcome, screen), 1)
        yield from rest
        yield from _fill_lines(f"  {case.reason}", screen, "  ")
        figures = [f"{label} {text}" for label, text in case.figures[2:]]
        yield from _fill_lines(f"  {' · '.join(figures)}", screen, "  ")
    else:
        yield from _fill_lines(f"{case.kind.capitalize():<11}{case.state}: {case.reason}", screen, " " * 11)
    if case.advice:
        yield from _fill_lines(f"  What to do: {case.advice}", screen, "  ")


def _worst(check: Check) -> str:
    return "failed" if check.code else "undecided"


def _fill_lines(text: str, screen: Medium, indent: str) -> list[str]:
    width = max(screen.width, NARROWEST)
    first = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        text.strip(), width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]


def _paint(text: str, outcome: str, screen: Medium) -> str:
    code = COLOURS.get(outcome, "")
    return f"{code}{text}{RESET}" if screen.is_coloured and code else text


def check_comment(check: Check, report: str) -> str:
    """The check as a Markdown table, with advice and the report of the same runs."""
    rows = ["| | check | of | found |", "| --- | --- | --- | --- |"]
    for case in check.cases:
        figures = "; ".join(f"{label} {text}" for label, text in case.figures)
        reason = escape(f"{figures}: {case.reason}" if figures else case.reason)
        rows.append(f"| {MARKS[case.outcome]} | {escape(case.name)} | {escape(case.subject)} | {reason} |")
    advice = "\n".join(f"- {escape(case.headline)}. {escape(case.advice)}" for case in check.cases if case.advice)
    warnings = [warning for warning in check.warnings if warning not in check.report.warnings]
    warning_lines = "\n".join(f"- Warning: {escape(warning)}" for warning in warnings)
    head = f"## deviate check: {escape(check.word)}\n\n{escape(check.result)}."
    blocks = [head, "\n".join(rows), advice, warning_lines, report.rstrip()]
    return "\n\n".join(block for block in blocks if block) + "\n"
