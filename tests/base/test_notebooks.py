"""A notebook becomes a script whose lines tell their cells, and that prints what its reader expects."""

import contextlib
import io
import os

import pytest
from notebooks import notebook_text

from deviate.base.notebooks import notebook_script, set_aside_text
from deviate.errors import InputError
from deviate.model.places import place_text, traceback_with_cells


def script(*cells: str) -> list[str]:
    """The lines of the script; index 7003 is line 3 of cell 7."""
    return ["", *notebook_script(notebook_text(*cells).encode(), "n.ipynb").text.split("\n")]


def test_code_cells_count_as_jupyter_numbers_them() -> None:
    lines = script("a = 1\n\nb = 2", "# markdown", "", "c = 3")
    assert (lines[1001], lines[1003], lines[2001]) == ("a = 1", "b = 2", "c = 3")
    assert place_text("n.ipynb", 1003) == "n.ipynb cell 1, line 3"


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\nx = 1", ["pass  # %matplotlib inline", "x = 1"]),
        ("if True:\n    !ls {x", ["if True:", "    pass  # !ls {x"]),
        ("!pip install a \\\n  b\nx = 1", ["pass  # !pip install a \\", "#   b", "x = 1"]),
        ("files = !ls", ["pass  # files = !ls"]),
        ("np.sum?", ["pass  # np.sum?"]),
        ("?np.sum", ["pass  # ?np.sum"]),
        ("%time x = f(\n  1)", ["x = f(", "  1)"]),
        ("%%time\nx = 1", ["# %%time", "x = 1"]),
        ("%%bash\nls (", ["# %%bash", "# ls ("]),
        ("%%writefile a.py\nx = '''", ["# %%writefile a.py", "# x = '''"]),
        ("get_ipython().run_line_magic(\n  'a', '')", ["pass  # get_ipython().run_line_magic(", "#   'a', '')"]),
        ("!ls\nprint('%d'\n  % x)\ns = '''\n!a\n%b\n'''", [
            "pass  # !ls", "print('%d'", "  % x)", "s = '''", "!a", "%b", "'''"
        ]),
    ],
)  # fmt: skip
def test_what_only_jupyter_reads_becomes_a_comment(cell: str, python: list[str]) -> None:
    lines = script("y = 0", cell)
    assert lines[2001 : 2001 + len(python)] == python
    compile("\n".join(lines), "n.ipynb", "exec")


def test_a_traceback_names_the_cell() -> None:
    text = """  File "/a/n.ipynb", line 7003, in <module>\n  File "a.py", line 7003, in f"""
    assert traceback_with_cells(text).splitlines() == [
        '  File "/a/n.ipynb", cell 7, line 3, in <module>',
        '  File "a.py", line 7003, in f',
    ]


def test_what_is_set_aside_is_named_with_its_cell() -> None:
    notebook = notebook_script(notebook_text("x = 1", "%%bash\nls\nls", "%%time\n!ls").encode(), "n.ipynb")
    assert set_aside_text("n.ipynb", notebook.set_aside) == (
        "n.ipynb: set aside, as only Jupyter can run it: %%bash (cell 2, lines 1 to 3), !ls (cell 3, line 2)"
    )
    assert not set_aside_text("n.ipynb", notebook_script(notebook.text.encode(), "n.ipynb").set_aside)


def test_the_script_prints_what_jupyter_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "svg")
    cells = [
        "acc = {'é': 0.5}\nacc['é']  # shown",
        "(acc['é'] +\n 1)",
        "acc['é'];",
        "acc.clear()",
        "max(\n  1, 2\n)\n# end",
        "from __future__ import annotations\ndef f(x: Unknown): ...",
        "display(acc, None)\nif get_ipython() is not None:\n    print('no')\nNone",
    ]
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile("\n".join(script(*cells)), "n.ipynb", "exec", dont_inherit=True), {})
    assert shown.getvalue().split("\n") == ["0.5", "1.5", "2", "{}", ""]
    assert os.environ["MPLBACKEND"] == "agg"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "n.ipynb is no notebook"),
        ("[]", "it has no nbformat"),
        ('{"nbformat": 3, "worksheets": []}', "nbformat 3"),
        (notebook_text("x <- 1", kernelspec={"language": "R"}), "in R, not in Python"),
        (notebook_text("# markdown"), "no code cells"),
        (notebook_text("x = 1", "\ny = (1,"), "cell 2, line 2, column 5: not valid Python"),
        (notebook_text("x = 1\nawait x"), "cell 1, line 2: await"),
        (notebook_text("x = 1\n" * 1000), "cell 1 has 1000 lines"),
    ],
)
def test_what_is_no_notebook_for_a_script_gets_one_message(content: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        notebook_script(content.encode(), "n.ipynb")
    assert caught.value.hint


@pytest.mark.parametrize("cell", ["f'{d['a']} {f'{f'{1}'}'}'", 'f"{x["("]}"', "type A = list[int]", "t'{x}'"])
def test_newer_syntax_is_left_to_the_python_that_runs_it(cell: str) -> None:
    first, last = script("!ls", f"%time x = 1\n{cell}")[2001:2003]
    assert first == "x = 1"
    assert last in {cell, f"display({cell})"}  # where our own Python knows the syntax, the value is shown
