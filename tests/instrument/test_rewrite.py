"""Taps are insertions: every line keeps its number, and the program its meaning."""

import ast

import pytest
from harness import span_of

from deviate.errors import ToolError
from deviate.instrument.rewrite import BOOTSTRAP, instrument_text
from deviate.model.analysis import Loop, Site


def tapped(text: str, *marked: str, loops: tuple[str, ...] = ()) -> str:
    spans = [span_of(text, passage)[0] for passage in marked]
    sites = [Site(i, "t.py", span.line, span, "", "print") for i, span in enumerate(spans)]
    around = [Loop(i, "t.py", 1, 1, "for", None, span_of(text, passage)[0], i == 0) for i, passage in enumerate(loops)]
    return instrument_text(text, sites, around).text


def test_a_text_without_taps_stays_as_it_is() -> None:
    text = "#!/usr/bin/env python\nimport os\n"
    assert instrument_text(text, [], []).text == text


def test_nested_values_and_loops_nest() -> None:
    text = "import os\nfor i in f(a)[0]:\n    print(a + b)\n"
    result = tapped(text, "print(«a + b»)", "print(«a» +", "«f(a)[0]»", loops=("in «f(a)[0]»",))
    assert result.splitlines()[1:] == [
        "for i in __deviate_log__(2, (__deviate_loop__(0)((f(a)[0])))):",
        "    print(__deviate_log__(0, (__deviate_log__(1, (a)) + b)))",
    ]


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("import os\n", 1),
        ('"""Doc."""\nfrom __future__ import annotations\n# note\nimport os; import sys\n', 4),
        ("def f():\n    pass\n\nclass A:\n    '''Doc.'''\n    x = 1\n", 6),
        ("try:\n    import os\nexcept ImportError:\n    pass\n", 2),
        ("if True:\n    import os\n", 1),
        ("for i in ():\n    pass\n", 1),
        ("with open('f'):\n    pass\n", 1),
        ("@decorate\ndef f():\n    pass\n", 1),
        ("# -*- coding: utf-8 -*-\n\nx = 'é'\n", 3),
    ],
)
def test_the_bootstrap_joins_the_first_statement_that_runs(head: str, line: int) -> None:
    text = head + "print(x.loss)\n"
    result = tapped(text, "print(«x.loss»)")
    found = [number for number, content in enumerate(result.splitlines(), 1) if BOOTSTRAP in content]
    assert found == [line]
    assert len(result.splitlines()) == len(text.splitlines())
    assert ast.get_docstring(ast.parse(result)) == ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "'Doc.'\ndef f(x):\n    print(x.loss)\n",
        "'Doc.'\nfrom __future__ import annotations\ndef f(x):\n    print(x.loss)\n",
        "from __future__ import annotations; from __future__ import division\ndef f(x): print(x.loss)\n",
        "def f(x):\n    'Doc.'\n    print(x.loss)\n",
        "def f(x): 'Doc.'; print(x.loss)\n",
        "def f(x):\n    def g(): pass\n    if x: print(x.loss)\n",
        "class A:\n    'Doc.'\n    def f(self, x):\n        print(x.loss)\n",
        "async def f(x):\n    print(x.loss)\n",
    ],
)
def test_a_file_that_only_defines_loads_the_guest_too(text: str) -> None:
    result = tapped(text, "print(«x.loss»)")
    assert result.count(BOOTSTRAP) == 1
    assert len(result.splitlines()) == len(text.splitlines())
    before, after = ast.parse(text), ast.parse(result)
    assert ast.get_docstring(after) == ast.get_docstring(before)
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    told = [
        [ast.get_docstring(node) for node in ast.walk(tree) if isinstance(node, documented)] for tree in (before, after)
    ]
    assert told[0] == told[1]
    compile(result, "t.py", "exec")


def test_edits_give_the_original_back() -> None:
    text = 'é = 1\nprint(f"{é = :.2f} é {é:>{é}}", é)\n'
    spans = [span_of(text, passage)[0] for passage in ("{«é» =", "{«é»:>", '", «é»)')]
    forms = ("shown", "value", "value")
    sites = [
        Site(i, "t.py", 2, span, "é", "print", form=form)  # type: ignore[arg-type]
        for i, (span, form) in enumerate(zip(spans, forms, strict=True))
    ]
    result = instrument_text(text, sites, [])
    assert compile(result.text, "t.py", "exec")
    line = result.text.splitlines()[1]
    kept = line
    for number, column, gain in reversed(result.edits):
        if number == 2 and gain > 0:
            kept = kept[:column] + kept[column + gain :]
    assert kept == 'print(f"{é:.2f} é {é:>{é}}", é)'


def sited(text: str, *marked: tuple[str, str]) -> str:
    sites = [
        Site(i, "t.py", 1, span_of(text, passage)[0], "", "print", form=form)  # type: ignore[arg-type]
        for i, (passage, form) in enumerate(marked)
    ]
    return instrument_text(text, sites, []).text


def test_a_callee_is_wrapped_and_the_script_does_the_call() -> None:
    text = "import os\nx = w.add(\n    a, (b)(c)\n) + '%(d)s' % m\n"
    result = sited(
        text, ("w.add", "call"), ("(«b»)(", "meter"), ("«w.add(\n    a, (b)(c)\n)» +", "value"), ("«m»\n", "mapping")
    )
    assert result.splitlines()[1:] == [
        "x = __deviate_log__(2, (__deviate_call__((0,), (w.add))(",
        "    a, (__deviate_meter__((1,), (b)))(c)()",
        ")())) + '%(d)s' % __deviate_mapping__((3,), (m))",
    ]


def test_sites_of_one_callee_share_a_tap_and_forms_nest() -> None:
    text = "\fw.add(a)\n"
    result = sited(text, ("«w.add»(", "call"), ("«w.add»(", "call"), ("«w.add»(", "meter"))
    line = result.split("\n")[0]
    assert line.startswith("\f__import__")
    assert line.endswith("; __deviate_call__((0, 1,), (__deviate_meter__((2,), (w.add))))(a)()()")


def test_what_is_not_called_cannot_be_tapped_as_if() -> None:
    with pytest.raises(ToolError, match="no call at line 2, column 4"):
        sited("import os\nx = w.add\n", ("w.add", "call"))


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_and_form_feeds_stay(newline: str) -> None:
    text = newline.join(["import os", "\fx = 1", "s = '\x1c'", "print(x)", ""])
    result = tapped(text, "print(«x»)" if newline == "\n" else "x)") if newline == "\n" else tapped(text)
    assert result.count(newline) == text.count(newline)


def test_text_that_breaks_is_never_run() -> None:
    with pytest.raises(ToolError, match="broke the syntax"):
        tapped("import os\nprint(x)\n", "p«rint(»x)")
