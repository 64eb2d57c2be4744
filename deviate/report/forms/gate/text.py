"""A check on a terminal, and as Markdown for a pull request."""

import textwrap
from collections.abc import Iterator

from deviate.report.form_registry import Medium
from deviate.report.forms.gate.forms import check_form
from deviate.report.forms.markdown import escape
from deviate.report.forms.registry import render
from deviate.report.view.check import CheckCase, CheckView

NARROWEST = 40
COLOURS = {"failed": "\x1b[1;31m", "error": "\x1b[1;31m", "undecided": "\x1b[1;33m", "passed": "\x1b[1;32m"}
RESET = "\x1b[0m"
MARKS = {"passed": "pass", "failed": "**fail**", "error": "**incomplete**", "undecided": "undecided", "absent": "-"}


@check_form("terminal")
def render_terminal(view: CheckView, screen: Medium) -> str:
    """A block for each metric, a line for all else that is as it should be; the result last."""
    lines: list[str] = []
    for case in view.cases:
        lines += _block(case, screen)
    for warning in view.warnings:
        lines += _filled(f"Warning  {warning}", screen, "         ")
    word = _painted(view.word, "passed" if view.code == 0 and view.word == "passed" else _worst(view), screen)
    lines += [""] if lines else []
    lines += [f"Result: {word}   {view.result}"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _block(case: CheckCase, screen: Medium) -> Iterator[str]:
    if case.kind == "metric":
        head, *rest = _filled(f"Check: {case.headline}", screen, "  ")
        yield head.replace(case.word, _painted(case.word, case.outcome, screen), 1)
        yield from rest
        yield from _filled(f"  {case.reason}", screen, "  ")
        told = [f"{label} {text}" for label, text in case.figures[2:]]
        yield from _filled(f"  {' · '.join(told)}", screen, "  ")
    else:
        yield from _filled(f"{case.kind.capitalize():<11}{_after_colon(case)}: {case.reason}", screen, " " * 11)
    if case.advice:
        yield from _filled(f"  What to do: {case.advice}", screen, "  ")


def _after_colon(case: CheckCase) -> str:
    """`records of train: 5/5 completed` without the word that stands before it."""
    begin = "completed runs of " if case.kind == "completion" else f"{case.kind} of "
    return case.headline.removeprefix(begin).removeprefix("control: ")


def _worst(view: CheckView) -> str:
    return "failed" if view.code else "undecided"


def _filled(text: str, screen: Medium, indent: str) -> list[str]:
    width = max(screen.width, NARROWEST)
    first = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        text.strip(), width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]


def _painted(text: str, outcome: str, screen: Medium) -> str:
    code = COLOURS.get(outcome, "")
    return f"{code}{text}{RESET}" if screen.is_coloured and code else text


@check_form("markdown")
def render_markdown(view: CheckView, _screen: Medium) -> str:
    """The gate as a table, what to do about it, and the report of the same runs."""
    rows = ["| | check | of | found |", "| --- | --- | --- | --- |"]
    for case in view.cases:
        figures = "; ".join(f"{label} {text}" for label, text in case.figures)
        found = escape(f"{figures}: {case.reason}" if figures else case.reason)
        rows.append(f"| {MARKS[case.outcome]} | {escape(case.name)} | {escape(case.subject)} | {found} |")
    advice = "\n".join(f"- {escape(it.headline)}. {escape(it.advice)}" for it in view.cases if it.advice)
    warnings = [it for it in view.warnings if it not in view.report.warnings]
    told = "\n".join(f"- Warning: {escape(it)}" for it in warnings)
    head = f"## deviate check: {escape(view.word)}\n\n{escape(view.result)}."
    blocks = [head, "\n".join(rows), advice, told, render(view.report, "markdown").rstrip()]
    return "\n\n".join(it for it in blocks if it) + "\n"
