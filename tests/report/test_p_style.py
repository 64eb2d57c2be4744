"""A p-value without the zero before its point is the same p-value, and nothing else of a document differs."""

import re
from collections.abc import Callable
from contextvars import copy_context

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import KINDS

from deviate.report.document import Report
from deviate.report.format import P_STYLE, p_cell
from deviate.report.forms.registry import render
from deviate.report.paper.macros import macros_of, macros_source
from deviate.report.parts.build import build_report

NUMBER = re.compile(r"(\d*\.\d+)")
FORMS = ("terminal", "markdown", "latex", "siunitx", "macros", "html")


def _plain(write: Callable[[], str]) -> str:
    context = copy_context()
    context.run(P_STYLE.set, ".031")
    return context.run(write)


@given(st.floats(min_value=0, max_value=1))
def test_a_cell_differs_in_the_zero_alone(p_value: float) -> None:
    with_zero = p_cell(p_value)
    assert _plain(lambda: p_cell(p_value)) == with_zero.replace("0.", ".", with_zero.startswith(("0.", "< 0.")))


@pytest.mark.parametrize(
    ("kind", "form"),
    # Of several tasks, the columns that are narrower make siunitx take another layout.
    [
        (kind, form)
        for kind in ("two_with_a_verdict", "tasks")
        for form in FORMS
        if (kind, form) != ("tasks", "siunitx")
    ],
)
def test_a_document_differs_in_the_zeros_of_p_alone(kind: str, form: str) -> None:
    findings = KINDS[kind]()

    def write() -> str:
        report: Report = build_report(findings)
        if form == "macros":
            return macros_source(macros_of(findings, report))
        text = render(report, "latex" if form == "siunitx" else form, has_siunitx=form == "siunitx", width=9999)
        return " ".join(re.sub(r"<(script|svg).*?</\1>|table-format=[\d.]+", "", text, flags=re.DOTALL).split())

    before, after = NUMBER.split(write()), NUMBER.split(_plain(write))
    assert len(before) == len(after)
    changed = {(one, other) for one, other in zip(before, after, strict=True) if one != other}
    assert changed
    assert [pair for pair in changed if pair[0] != f"0{pair[1]}" or len(pair[1]) != len(".031")] == []
    assert not re.search(r"\bp ?[=<] 0\.", "".join(after).replace("&lt;", "<"))
